#include <png.h>
#include <zlib.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "base/errors.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

// See png_decode.cc: libpng's failures jump back here.
class Encoder {
 public:
  Encoder() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      throw error(Code::ResourceExhausted, "no memory to encode a PNG file");
    }
    png_set_write_fn(png_, this, write, [](png_structp) {});
  }
  ~Encoder() { png_destroy_write_struct(&png_, &info_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  std::string encode(const Tensor& pixels, int64_t compression) {
    if (setjmp(png_jmpbuf(png_)) != 0) throw error(Code::Internal, "PNG encoding failed: {}", message_);
    write_picture(pixels, compression);
    return std::move(bytes_);
  }

 private:
  void write_picture(const Tensor& pixels, int64_t compression) {
    constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    const Shape& shape = pixels.shape();
    const bool wide = pixels.dtype() == uint16;
    png_set_compression_level(png_, compression < 0 ? Z_DEFAULT_COMPRESSION : static_cast<int>(compression));
    png_set_compression_mem_level(png_, MAX_MEM_LEVEL);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(shape[1]), static_cast<png_uint_32>(shape[0]), wide ? 16 : 8,
                 kColours[shape[2] - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (wide && std::endian::native == std::endian::little) png_set_swap(png_);
    const size_t stride = static_cast<size_t>(shape[1] * shape[2]) * (wide ? 2 : 1);
    const auto* rows = static_cast<const uint8_t*>(pixels.raw());
    for (int64_t y = 0; y < shape[0]; ++y) png_write_row(png_, rows + static_cast<size_t>(y) * stride);
    png_write_end(png_, nullptr);
  }

  static void write(png_structp png, png_bytep bytes, png_size_t count) {
    auto& encoder = *static_cast<Encoder*>(png_get_io_ptr(png));
    bool stored = true;
    try {
      encoder.bytes_.append(reinterpret_cast<const char*>(bytes), count);
    } catch (const std::bad_alloc&) {
      stored = false;  // the jump must not leave this handler
    }
    if (!stored) png_error(png, "no memory");
  }

  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto& encoder = *static_cast<Encoder*>(png_get_error_ptr(png));
    std::strncpy(encoder.message_, message, sizeof encoder.message_ - 1);
    png_longjmp(png, 1);
  }

  std::string bytes_;
  char message_[128] = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

std::string encode_png(const Tensor& pixels, int64_t compression) {
  const Shape& shape = pixels.shape();
  if (pixels.dtype() != uint8 && pixels.dtype() != uint16) {
    throw invalid_argument("image must have type uint8 or uint16, got {}", dtype_name(pixels.dtype()));
  }
  if (compression < -1 || compression > 9) {
    throw invalid_argument("compression should be in [-1,9], got {}", compression);
  }
  if (shape.rank() != 3) throw invalid_argument("image must be 3-dimensional, got shape {}", shape.str());
  if (shape[2] < 1 || shape[2] > 4) throw invalid_argument("image must have 1, 2, 3, or 4 channels, got {}", shape[2]);
  if (pixels.elements() >= std::numeric_limits<int32_t>::max()) {
    throw invalid_argument("image cannot have >= int32 max elements");
  }
  if (shape[1] * shape[2] >= std::numeric_limits<int32_t>::max() / 2) {
    throw invalid_argument("image too wide to encode");
  }
  if (pixels.elements() == 0) {
    throw error(Code::Internal, "PNG encoding failed: a picture of {} x {} pixels", shape[0], shape[1]);
  }
  return Encoder().encode(pixels, compression);
}

}  // namespace weir
