#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <string>

#include "base/errors.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

constexpr int64_t kMostSide = int64_t{1} << 27, kMostPixels = int64_t{1} << 29;  // as in TensorFlow
constexpr int64_t kDeflateRatio = 1032;                                          // more than zlib can pack into a byte

// libpng's failures jump back into Decoder::guarded, which throws: exceptions must not pass through its C frames.
class Decoder {
 public:
  explicit Decoder(std::string_view png) : left_(png), size_(png.size()) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw error(Code::ResourceExhausted, "no memory to decode a PNG file");
    }
    png_set_read_fn(png_, this, read);
    // Text, profiles and the like can be packed a thousandfold; nobody asks for them.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
    png_set_chunk_malloc_max(png_, 1 << 20);
    png_set_user_limits(png_, static_cast<png_uint_32>(kMostSide), static_cast<png_uint_32>(kMostSide));
    guarded("Invalid PNG header, data size", [this] { png_read_info(png_, info_); });
  }
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Tensor decode(int64_t wanted, DType dtype) {
    const int64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
    if (height * width >= kMostPixels) throw invalid_argument("PNG size too large for int: {} by {}", width, height);
    const auto file_row = static_cast<int64_t>(png_get_rowbytes(png_, info_));
    if (file_row * height / kDeflateRatio > static_cast<int64_t>(size_)) {
      throw invalid_argument("Invalid PNG data, size {}: too short for {} x {} pixels", size_, height, width);
    }
    const bool wide = dtype == uint16, narrow_file = png_get_bit_depth(png_, info_) <= 8;
    const int64_t channels = wanted ? wanted : channels_of_file();
    int passes = 1;
    guarded("Invalid PNG header, data size", [&] {
      passes = convert(channels, wide);
      png_read_update_info(png_, info_);
    });
    const size_t row_bytes = static_cast<size_t>(width * channels) * (wide && !narrow_file ? 2 : 1);
    if (png_get_rowbytes(png_, info_) != row_bytes) {
      throw error(Code::Internal, "a row of the PNG file has {} bytes, expected {}", png_get_rowbytes(png_, info_),
                  row_bytes);
    }
    Tensor pixels(dtype, {height, width, channels});
    auto* bytes = static_cast<uint8_t*>(pixels.mutable_raw());
    guarded("Invalid PNG data, size", [&] {
      for (int pass = 0; pass < passes; ++pass) {
        for (int64_t y = 0; y < height; ++y) png_read_row(png_, bytes + static_cast<size_t>(y) * row_bytes, nullptr);
      }
      png_read_end(png_, nullptr);
    });
    if (wide && narrow_file) widen(pixels);
    return pixels;
  }

 private:
  bool transparent_colour() const { return png_get_valid(png_, info_, PNG_INFO_tRNS) != 0; }

  int64_t channels_of_file() const {
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) return transparent_colour() ? 4 : 3;
    return png_get_channels(png_, info_);
  }

  // Asks for `channels` of 8 bits, or of 16 where the file has them. Gives the number of passes over the rows.
  int convert(int64_t channels, bool wide) {
    const int colours = png_get_color_type(png_, info_), bits = png_get_bit_depth(png_, info_);
    const bool has_alpha = (colours & PNG_COLOR_MASK_ALPHA) != 0, grey = (colours & PNG_COLOR_MASK_COLOR) == 0;
    if (channels % 2 != 0) {
      if (has_alpha || transparent_colour()) png_set_strip_alpha(png_);
    } else if (!has_alpha && transparent_colour()) {
      png_set_tRNS_to_alpha(png_);
    } else if (!has_alpha) {
      png_set_add_alpha(png_, (1u << bits) - 1, PNG_FILLER_AFTER);
    }
    if (bits > 8 && !wide) png_set_strip_16(png_);
    png_set_packing(png_);
    const int passes = png_set_interlace_handling(png_);
    if (wide && std::endian::native == std::endian::little) png_set_swap(png_);
    if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (grey && bits < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (channels < 3 && !grey) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.299, 0.587);  // JPEG's weights
    if (channels >= 3 && grey) png_set_gray_to_rgb(png_);
    return passes;
  }

  // Bytes at the beginning of the memory become words, 255 becoming 65535; from the end, so that none is overwritten.
  static void widen(Tensor& pixels) {
    auto* words = pixels.mutable_data<uint16_t>();
    const auto* bytes = reinterpret_cast<const uint8_t*>(words);
    for (int64_t i = pixels.elements(); i-- > 0;) words[i] = static_cast<uint16_t>(bytes[i] * 257);
  }

  static void read(png_structp png, png_bytep to, png_size_t count) {
    auto& decoder = *static_cast<Decoder*>(png_get_io_ptr(png));
    if (count > decoder.left_.size()) png_error(png, "it ends too early");
    std::memcpy(to, decoder.left_.data(), count);
    decoder.left_.remove_prefix(count);
  }

  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto& decoder = *static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(decoder.message_, message, sizeof decoder.message_ - 1);
    png_longjmp(png, 1);
  }

  // REQUIRES: `call` holds no object that needs a destructor, for a failure jumps over it.
  template <class F>
  void guarded(const char* what, F call) {
    if (setjmp(png_jmpbuf(png_)) != 0) {
      // In the constructor nobody else frees what libpng holds; freeing twice does no harm.
      png_destroy_read_struct(&png_, &info_, nullptr);
      const std::string text = fmt::format("{} {}: {}", what, size_, message_);
      throw Error(Code::InvalidArgument, text);
    }
    call();
  }

  std::string_view left_;
  size_t size_;
  char message_[128] = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

Tensor decode_png(std::string_view png, int64_t channels, DType dtype) {
  if (channels < 0 || channels > 4) throw invalid_argument("channels must be 0, 1, 3, or 4, got {}", channels);
  if (dtype != uint8 && dtype != uint16)
    throw invalid_argument("Type must be uint8 or uint16, got {}", dtype_name(dtype));
  if (image_format(png) != ImageFormat::Png) {
    throw invalid_argument("Invalid PNG header, data size {}: it does not begin with PNG's signature", png.size());
  }
  return Decoder(png).decode(channels, dtype);
}

}  // namespace weir
