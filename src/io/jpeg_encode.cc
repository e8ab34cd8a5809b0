#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
// jpeglib.h uses size_t and FILE without including what declares them.
#include <jpeglib.h>

#include "base/errors.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

// See jpeg_decode.cc: libjpeg's failures jump back here.
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

class Encoder {
 public:
  Encoder() {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = fail;
    guarded([this] {
      jpeg_create_compress(&info_);
      jpeg_mem_dest(&info_, &bytes_, &length_);
    });
  }
  ~Encoder() {
    jpeg_destroy_compress(&info_);
    std::free(bytes_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  std::string encode(const Tensor& pixels, const JpegEncodeOptions& options) {
    const uint8_t* data = pixels.data<uint8_t>().data();
    // A segment that begins with the name of what it holds.
    std::string metadata = options.xmp_metadata;
    if (!metadata.empty()) metadata.insert(0, std::string("http://ns.adobe.com/xap/1.0/") + '\0');
    guarded([&] {
      configure(pixels.shape(), options);
      jpeg_start_compress(&info_, TRUE);
      if (!metadata.empty()) {
        jpeg_write_marker(&info_, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(metadata.data()),
                          static_cast<unsigned>(metadata.size()));
      }
      const size_t stride = size_t{info_.image_width} * static_cast<size_t>(info_.input_components);
      while (info_.next_scanline < info_.image_height) {
        JSAMPROW row = const_cast<uint8_t*>(data) + info_.next_scanline * stride;  // libjpeg only reads it
        jpeg_write_scanlines(&info_, &row, 1);
      }
      jpeg_finish_compress(&info_);
    });
    return {reinterpret_cast<const char*>(bytes_), length_};
  }

 private:
  void configure(const Shape& shape, const JpegEncodeOptions& options) {
    info_.image_height = static_cast<JDIMENSION>(shape[0]);
    info_.image_width = static_cast<JDIMENSION>(shape[1]);
    info_.input_components = static_cast<int>(shape[2]);
    info_.in_color_space = shape[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    info_.optimize_coding = options.optimize_size ? TRUE : FALSE;
    info_.density_unit = options.density_in_centimetres ? 2 : 1;
    info_.X_density = static_cast<UINT16>(options.x_density);
    info_.Y_density = static_cast<UINT16>(options.y_density);
    jpeg_set_quality(&info_, static_cast<int>(options.quality), TRUE);
    if (options.progressive) jpeg_simple_progression(&info_);
    if (!options.chroma_downsampling) {
      for (int i = 0; i < info_.num_components; ++i)
        info_.comp_info[i].h_samp_factor = info_.comp_info[i].v_samp_factor = 1;
    }
  }

  // REQUIRES: `call` holds no object that needs a destructor, for a failure jumps over it.
  template <class F>
  void guarded(F call) {
    if (setjmp(failure_.jump) != 0) throw error(Code::Internal, "JPEG encoding failed: {}", failure_.message);
    call();
  }

  Failure failure_ = {};
  jpeg_compress_struct info_ = {};
  unsigned char* bytes_ = nullptr;
  unsigned long length_ = 0;
};

}  // namespace

std::string encode_jpeg(const Tensor& pixels, const JpegEncodeOptions& options) {
  const Shape& shape = pixels.shape();
  if (shape.rank() != 3) throw invalid_argument("image must be 3-dimensional, got shape {}", shape.str());
  if (shape[2] != 1 && shape[2] != 3) throw invalid_argument("image must have 1 or 3 channels, got {}", shape.str());
  if (pixels.elements() >= std::numeric_limits<int32_t>::max()) {
    throw invalid_argument("Cannot encode images with >= max int32 elements");
  }
  if (pixels.elements() == 0 || shape[0] * shape[1] >= int64_t{1} << 29) {
    throw error(Code::Internal, "JPEG encoding failed: a picture of {} x {} pixels", shape[0], shape[1]);
  }
  if (options.quality < 0 || options.quality > 100) {
    throw invalid_argument("quality must be in [0,100], got {}", options.quality);
  }
  return Encoder().encode(pixels, options);
}

}  // namespace weir
