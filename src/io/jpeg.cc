#include "weir/jpeg.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h uses size_t and FILE without including what declares them.
#include <jpeglib.h>

#include "base/errors.h"

namespace weir {
namespace {

// libjpeg reports a failure by calling a function that must not return; its own ends the process. This one jumps back
// into Decoder::guarded, which throws: C++ exceptions must not pass through libjpeg's C frames.
struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  info->err->format_message(info, failure->message);
  std::longjmp(failure->jump, 1);
}

// Levels below 0 are warnings: libjpeg would go on with guessed pixels. The others are traces.
void warn(j_common_ptr info, int level) {
  if (level < 0) fail(info);
}

class Decoder {
 public:
  explicit Decoder(std::string_view jpeg) : bytes_(jpeg) {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = fail;
    failure_.manager.emit_message = warn;
    if (jpeg.size() < 3 || jpeg.substr(0, 3) != "\xff\xd8\xff") {
      throw invalid_argument("{} bytes are no JPEG file: they do not begin with ff d8 ff", jpeg.size());
    }
    guarded([this] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                   static_cast<unsigned long>(bytes_.size()));
      jpeg_read_header(&info_, TRUE);
    });
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  JpegSize size() const { return {info_.image_height, info_.image_width}; }

  void decode(std::span<uint8_t> rgb) {
    const J_COLOR_SPACE colours = info_.jpeg_color_space;
    if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB) {
      throw invalid_argument("the JPEG picture has {} channels that are not grey, YCbCr or RGB", info_.num_components);
    }
    info_.out_color_space = JCS_RGB;
    guarded([this, rgb] {
      jpeg_start_decompress(&info_);
      while (info_.output_scanline < info_.output_height) {
        JSAMPROW row = rgb.data() + size_t{info_.output_scanline} * info_.output_width * 3;
        jpeg_read_scanlines(&info_, &row, 1);
      }
      jpeg_finish_decompress(&info_);
    });
  }

 private:
  // Calls libjpeg. REQUIRES: `call` holds no object that needs a destructor, for a failure jumps over it.
  template <class F>
  void guarded(F call) {
    if (setjmp(failure_.jump) != 0) {
      // In the constructor nobody else frees what libjpeg holds; freeing twice does no harm.
      jpeg_destroy_decompress(&info_);
      throw error(Code::DataLoss, "the JPEG file of {} bytes is damaged: {}", bytes_.size(), failure_.message);
    }
    call();
  }

  std::string_view bytes_;
  Failure failure_ = {};
  jpeg_decompress_struct info_ = {};
};

}  // namespace

void decode_jpeg(std::string_view jpeg, JpegSize size, std::span<uint8_t> rgb) {
  Decoder decoder(jpeg);
  if (decoder.size() != size) {
    throw invalid_argument("the JPEG picture has {} x {} pixels, expected {} x {}", decoder.size().height,
                           decoder.size().width, size.height, size.width);
  }
  decoder.decode(rgb);
}

}  // namespace weir
