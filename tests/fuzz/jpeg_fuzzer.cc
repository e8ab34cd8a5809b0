// Feeds arbitrary bytes to the decoder of JPEG files. Nothing may crash, leak, hang, take memory out of proportion or
// end in any exception but weir::Error.

#include <cstdint>
#include <string_view>

#include "weir/error.h"
#include "weir/image_codecs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  // The last byte chooses the options.
  const unsigned choice = size > 0 ? data[size - 1] : 0;
  JpegDecodeOptions options{.channels = choice % 3 == 2 ? 3 : static_cast<int64_t>(choice % 3),
                            .ratio = int64_t{1} << (choice / 3 % 4),
                            .fancy_upscaling = (choice & 64) != 0,
                            .accurate_dct = (choice & 128) != 0,
                            .try_recover_truncated = (choice & 32) != 0,
                            .acceptable_fraction = (choice & 16) != 0 ? 0.1f : 1.0f};
  if (choice % 5 == 0) options.crop = JpegCrop{3, 5, 7, 9};
  try {
    decode_jpeg(file, options);
  } catch (const Error&) {
  }
  try {
    jpeg_shape(file);
  } catch (const Error&) {
  }
  return 0;
}
