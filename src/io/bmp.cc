#include <cstdlib>
#include <limits>

#include "base/errors.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

int32_t int32_at(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return static_cast<int32_t>(value);
}

}  // namespace

Tensor decode_bmp(std::string_view bmp, int64_t wanted) {
  if (wanted != 0 && wanted != 1 && wanted != 3 && wanted != 4) {
    throw invalid_argument("channels must be 0, 1, 3 or 4, got {}", wanted);
  }
  if (bmp.size() < 32) {
    throw invalid_argument(
        "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {} "
        "bytes",
        bmp.size());
  }
  const int64_t header = int32_at(bmp, 10), width = int32_at(bmp, 18), height = int32_at(bmp, 22);
  // The two bytes behind the bits of a pixel say how the file is compressed; what is makes no number of channels.
  const int64_t channels = int32_at(bmp, 28) / 8;
  if (wanted != 0 && wanted != channels) {
    throw invalid_argument("channels attribute {} does not match bits per pixel from file {}", wanted, channels);
  }
  if (channels != 1 && channels != 3 && channels != 4) {
    throw invalid_argument("Number of channels must be 1, 3 or 4, was {}", channels);
  }
  if (width <= 0) throw invalid_argument("Width must be positive");
  if (height == 0) throw invalid_argument("Height must be nonzero");
  if (header < 0) throw invalid_argument("header size must be nonnegative");
  const int64_t rows = std::abs(height);
  if (width * rows >= std::numeric_limits<int32_t>::max() / 8) {
    throw invalid_argument("Total possible pixel bytes must be less than 2^30");
  }
  const int64_t row_bytes = (channels * width + 3) / 4 * 4;
  const int64_t needed = header + (rows - 1) * row_bytes + width * channels;
  if (needed > static_cast<int64_t>(bmp.size())) {
    throw invalid_argument("Incomplete bmp content, requires at least {} bytes, got {} bytes", needed, bmp.size());
  }

  Tensor pixels(uint8, {rows, width, channels});
  auto* out = pixels.mutable_data<uint8_t>();
  for (int64_t y = 0; y < rows; ++y) {
    // Rows go from the bottom up, unless the height is negative.
    const int64_t row = height < 0 ? y : rows - 1 - y;
    const auto* in = reinterpret_cast<const uint8_t*>(bmp.data()) + header + row * row_bytes;
    for (int64_t x = 0; x < width; ++x, in += channels, out += channels) {
      if (channels == 1) {
        out[0] = in[0];
        continue;
      }
      out[0] = in[2];
      out[1] = in[1];
      out[2] = in[0];
      if (channels == 4) out[3] = in[3];
    }
  }
  return pixels;
}

}  // namespace weir
