#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weir/dtype.h"
#include "weir/export.h"
#include "weir/tensor.h"

// Picture files in memory, to pixels and back, without a graph; the operations of image_ops.h call these. Pixels are
// tensors [height, width, channels] of uint8, or of uint16 where the format has it: 1 channel is grey, 2 grey and
// alpha, 3 RGB, 4 RGBA. All functions are thread-safe.
//
// They throw InvalidArgument for whatever is wrong with a file: another format, damage, a missing end, sizes that it
// cannot hold. Before memory is taken for the pixels their number is compared with the length of the file, so that a
// few bytes cannot ask for gigabytes.
namespace weir {

enum class ImageFormat { Unknown, Jpeg, Png, Gif, Bmp };
// By the first bytes.
WEIR_API ImageFormat image_format(std::string_view bytes);

struct JpegCrop {
  int64_t y = 0, x = 0, height = 0, width = 0;
};
struct JpegDecodeOptions {
  int64_t channels = 0;                // 0: as in the file, where four (CMYK) become RGB; 1; 3
  int64_t ratio = 1;                   // the picture becomes smaller by 1, 2, 4 or 8, which is quicker
  bool fancy_upscaling = true;         // smooth colours; false: quicker
  bool accurate_dct = false;           // false: the quick transform, TensorFlow's choice
  bool try_recover_truncated = false;  // go on with what there is of a file that is cut short
  float acceptable_fraction = 1;       // take it when at least this part of the lines is there; the others are black
  std::optional<JpegCrop> crop = {};   // decodes this part alone; it must lie inside the (smaller) picture
};
WEIR_API Tensor decode_jpeg(std::string_view jpeg, const JpegDecodeOptions& options = {});

struct JpegSize {
  int64_t height = 0, width = 0;
  bool operator==(const JpegSize&) const = default;
};
// Decodes into `rgb`, row by row with 3 bytes a pixel; grey pictures have three equal channels. For data sets, whose
// pictures have one size: throws InvalidArgument when it is not `size`, and DataLoss where decode_jpeg would guess
// pixels of a damaged file; `rgb` then holds anything.
// REQUIRES: rgb.size() == 3 * size.height * size.width.
WEIR_API void decode_jpeg(std::string_view jpeg, JpegSize size, std::span<uint8_t> rgb);

// Height, width and channels, from the header alone.
struct JpegShape {
  int64_t height = 0, width = 0, channels = 0;
};
WEIR_API JpegShape jpeg_shape(std::string_view jpeg);

struct JpegEncodeOptions {
  int64_t quality = 95;  // 0 to 100
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  bool density_in_centimetres = false;  // else in inches
  int64_t x_density = 300, y_density = 300;
  std::string xmp_metadata = {};
};
// A picture of 1 or 3 channels of uint8.
WEIR_API std::string encode_jpeg(const Tensor& pixels, const JpegEncodeOptions& options = {});

// `channels` 0: as in the file, palettes becoming colours. uint16 keeps the precision of 16-bit files.
WEIR_API Tensor decode_png(std::string_view png, int64_t channels = 0, DType dtype = uint8);
// A picture of 1 to 4 channels of uint8 or uint16. Compression is 0 (none) to 9 (slow), or -1 for the usual.
WEIR_API std::string encode_png(const Tensor& pixels, int64_t compression = -1);

// All frames, [frames, height, width, 3]. A frame that does not fill the picture lies over the one before.
WEIR_API Tensor decode_gif(std::string_view gif);

// Files without compression, of 8, 24 or 32 bits a pixel; `channels` 0: as in the file. Palettes are not looked up, as
// in TensorFlow.
WEIR_API Tensor decode_bmp(std::string_view bmp, int64_t channels = 0);

}  // namespace weir
