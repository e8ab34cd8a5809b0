#include "weir/image_codecs.h"

namespace weir {

ImageFormat image_format(std::string_view bytes) {
  using namespace std::literals;
  // The fourth byte of a JPEG file says which kind of it.
  if (bytes.starts_with("\xff\xd8\xff")) return ImageFormat::Jpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return ImageFormat::Png;
  if (bytes.starts_with("GIF8")) return ImageFormat::Gif;
  if (bytes.starts_with("BM")) return ImageFormat::Bmp;
  return ImageFormat::Unknown;
}

}  // namespace weir
