#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
// jpeglib.h uses size_t and FILE without including what declares them.
#include <jpeglib.h>
// After jpeglib.h.
#include <jerror.h>

#include "base/errors.h"
#include "base/function_ref.h"
#include "weir/image_codecs.h"

namespace weir {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 29;  // of a decoded picture, as in TensorFlow
// A progressive file may repeat its scans for as long as it likes. Encoders write about ten.
constexpr int kMostScans = 500;

// libjpeg reports a failure by calling a function that must not return; its own ends the process. This one jumps back
// into Decoder::guarded, which throws: C++ exceptions must not pass through libjpeg's C frames.
struct Failure {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  bool strict;  // warnings are failures
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  info->err->format_message(info, failure->message);
  std::longjmp(failure->jump, 1);
}

// Levels below 0 are warnings: libjpeg goes on with guessed pixels. The others are traces.
void warn(j_common_ptr info, int level) {
  if (level >= 0) return;
  ++info->err->num_warnings;
  if (reinterpret_cast<Failure*>(info->err)->strict) fail(info);
}

void limit_scans(j_common_ptr info) {
  if (!info->is_decompressor || reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  auto* failure = reinterpret_cast<Failure*>(info->err);
  std::snprintf(failure->message, sizeof failure->message, "more than %d scans", kMostScans);
  std::longjmp(failure->jump, 1);
}

// The bytes of the file, and what happens behind them: decoding stops at the line it has come to, so that the lines
// before it can be had, or, if truncated files are to be recovered, goes on: libjpeg first reads the bytes of its last
// unit again, and then an end marker.
struct Source {
  jpeg_source_mgr manager;
  const JOCTET* data;
  size_t size;
  bool recover;
  const JOCTET* repeated = nullptr;  // where libjpeg was given the same bytes once more
  int repeats = 0;
};
Source& source_of(j_decompress_ptr info) { return *reinterpret_cast<Source*>(info->src); }

void open_source(j_decompress_ptr info) {
  Source& source = source_of(info);
  source.manager.next_input_byte = source.data;
  source.manager.bytes_in_buffer = source.size;
}

// A unit may need the few bytes that are left many times over; whoever needs them more often looks for something that
// is not there.
constexpr int kMostRepeats = 1000;

::boolean fill_source(j_decompress_ptr info) {
  static const JOCTET end[2] = {0xff, JPEG_EOI};
  Source& source = source_of(info);
  jpeg_source_mgr& manager = source.manager;
  if (manager.bytes_in_buffer > 0) {  // libjpeg is inside a unit
    if (!source.recover) return FALSE;
    source.repeats = manager.next_input_byte == source.repeated ? source.repeats + 1 : 0;
    source.repeated = manager.next_input_byte;
    if (source.repeats < kMostRepeats) return TRUE;
    if (manager.next_input_byte == end) ERREXIT(info, JERR_FILE_READ);
  } else {
    if (manager.next_input_byte == source.data) ERREXIT(info, JERR_INPUT_EMPTY);
    if (!source.recover || manager.next_input_byte == end) ERREXIT(info, JERR_FILE_READ);
    WARNMS(info, JWRN_JPEG_EOF);
  }
  manager.next_input_byte = end;
  manager.bytes_in_buffer = 2;
  return TRUE;
}

void skip_source(j_decompress_ptr info, long count) {
  Source& source = source_of(info);
  if (count < 0) return;
  if (static_cast<size_t>(count) > source.manager.bytes_in_buffer) {
    source.manager.bytes_in_buffer = 0;
    (void)fill_source(info);
  } else {
    source.manager.bytes_in_buffer -= static_cast<size_t>(count);
    source.manager.next_input_byte += count;
  }
}

void close_source(j_decompress_ptr) {}

class Decoder {
 public:
  Decoder(std::string_view jpeg, bool recover, bool strict) : bytes_(jpeg) {
    info_.err = jpeg_std_error(&failure_.manager);
    failure_.manager.error_exit = fail;
    failure_.manager.emit_message = warn;
    failure_.strict = strict;
    source_ = {{nullptr, 0, open_source, fill_source, skip_source, jpeg_resync_to_restart, close_source},
               reinterpret_cast<const JOCTET*>(jpeg.data()),
               jpeg.size(),
               recover};
    progress_.progress_monitor = limit_scans;
    guarded([this] {
      jpeg_create_decompress(&info_);
      info_.src = &source_.manager;
      info_.progress = &progress_;
      // FALSE: the source gave up inside a marker.
      if (jpeg_read_header(&info_, TRUE) != JPEG_HEADER_OK) ERREXIT(&info_, JERR_INPUT_EOF);
    });
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  jpeg_decompress_struct& info() { return info_; }
  int64_t height() const { return info_.output_height; }
  int64_t width() const { return info_.output_width; }

  // Calls libjpeg. REQUIRES: `call` holds no object that needs a destructor, for a failure jumps over it.
  template <class F>
  void guarded(F call) {
    if (setjmp(failure_.jump) != 0) {
      // In the constructor nobody else frees what libjpeg holds; freeing twice does no harm.
      jpeg_destroy_decompress(&info_);
      throw failed();
    }
    call();
  }

  void finish() {
    guarded([this] {
      if (!jpeg_finish_decompress(&info_)) ERREXIT(&info_, JERR_INPUT_EOF);
    });
  }

  // A block of 8 x 8 pixels takes at least a bit of each scan that has it, unless its code is arithmetic.
  void require_bytes_for_pixels() const {
    int64_t blocks = 0;
    for (int i = 0; i < info_.num_components; ++i) {
      const jpeg_component_info& component = info_.comp_info[i];
      blocks += int64_t{component.width_in_blocks} * component.height_in_blocks;
    }
    if (!info_.arith_code && blocks > 8 * static_cast<int64_t>(bytes_.size())) {
      throw invalid_argument("Invalid JPEG data, size {}: too short for {} x {} pixels", bytes_.size(),
                             info_.image_height, info_.image_width);
    }
  }

 private:
  Error failed() const {
    if (failure_.strict) {
      return error(Code::DataLoss, "the JPEG file of {} bytes is damaged: {}", bytes_.size(), failure_.message);
    }
    return invalid_argument("Invalid JPEG data or crop window, data size {}: {}", bytes_.size(), failure_.message);
  }

  std::string_view bytes_;
  Failure failure_ = {};
  Source source_ = {};
  jpeg_progress_mgr progress_ = {};
  jpeg_decompress_struct info_ = {};
};

// One line of four inks as RGB. Files of Adobe's programs hold the complement.
void cmyk_to_rgb(const uint8_t* cmyk, int64_t pixels, bool inverted, uint8_t* rgb) {
  for (int64_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    const int black = inverted ? cmyk[3] : 255 - cmyk[3];
    for (int c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(black * (inverted ? cmyk[c] : 255 - cmyk[c]) / 255);
  }
}

void choose_colours(jpeg_decompress_struct& info, int64_t channels) {
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
}

void require_crop(const JpegCrop& crop, int64_t height, int64_t width, size_t bytes) {
  const bool inside = crop.height > 0 && crop.width > 0 && crop.y >= 0 && crop.x >= 0 && crop.height <= height &&
                      crop.width <= width && crop.y <= height - crop.height && crop.x <= width - crop.width;
  if (!inside) {
    throw invalid_argument(
        "Invalid JPEG data or crop window, data size {}: the window of {} x {} at ({}, {}) is not inside of the "
        "picture "
        "of {} x {}",
        bytes, crop.height, crop.width, crop.y, crop.x, height, width);
  }
}

// Decodes the lines into `out`, and gives the number of those that there were.
class Lines {
 public:
  Lines(Decoder& decoder, const JpegDecodeOptions& options, JpegCrop crop, int64_t channels)
      : decoder_(decoder), crop_(crop), channels_(channels), recover_(options.try_recover_truncated) {
    jpeg_decompress_struct& info = decoder.info();
    decoder.guarded([&] {
      // FALSE: the source gave up before the first line of a progressive file.
      if (!jpeg_start_decompress(&info)) ERREXIT(&info, JERR_INPUT_EOF);
      if (options.crop) {
        // libjpeg begins where a unit begins, which is to the left of the crop.
        JDIMENSION x = static_cast<JDIMENSION>(crop_.x), width = static_cast<JDIMENSION>(crop_.width);
        jpeg_crop_scanline(&info, &x, &width);
        jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(crop_.y));
        skip_ = crop_.x - x;
      }
    });
    whole_ = info.out_color_space != JCS_CMYK && info.output_width == crop_.width;
    if (!whole_) line_.resize(static_cast<size_t>(info.output_width) * static_cast<size_t>(info.output_components));
  }

  int64_t read(uint8_t* out) {
    const int64_t stride = crop_.width * channels_;
    int64_t y = 0;
    for (; y < crop_.height; ++y, out += stride) {
      if (read_line(out, stride)) continue;
      if (!recover_) return y;
      // Nothing more will come: the last line stands for those below it.
      for (; y < crop_.height; ++y, out += stride) {
        if (y == 0) {
          std::fill_n(out, stride, uint8_t{0});
        } else {
          std::copy_n(out - stride, stride, out);
        }
      }
      return crop_.height;
    }
    return y;
  }

 private:
  bool read_line(uint8_t* out, int64_t stride) {
    jpeg_decompress_struct& info = decoder_.info();
    JSAMPROW row = whole_ ? out : line_.data();
    JDIMENSION lines = 0;
    decoder_.guarded([&info, &row, &lines] { lines = jpeg_read_scanlines(&info, &row, 1); });
    if (lines == 0) return false;
    if (info.out_color_space == JCS_CMYK) {
      cmyk_to_rgb(line_.data() + skip_ * 4, crop_.width, info.saw_Adobe_marker, out);
    } else if (!whole_) {
      std::memcpy(out, line_.data() + skip_ * channels_, static_cast<size_t>(stride));
    }
    return true;
  }

  Decoder& decoder_;
  JpegCrop crop_;
  int64_t channels_;
  bool recover_, whole_ = true;
  int64_t skip_ = 0;  // pixels to the left of the crop
  std::vector<uint8_t> line_;
};

void require_jpeg(std::string_view bytes) {
  if (image_format(bytes) != ImageFormat::Jpeg) {
    throw invalid_argument("{} bytes are no JPEG file: they do not begin with ff d8 ff", bytes.size());
  }
}

}  // namespace

Tensor decode_jpeg(std::string_view jpeg, const JpegDecodeOptions& options) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3) {
    throw invalid_argument("channels must be 0, 1, or 3 for JPEG, got {}", options.channels);
  }
  if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8) {
    throw invalid_argument("ratio must be 1, 2, 4, or 8, got {}", options.ratio);
  }
  require_jpeg(jpeg);
  Decoder decoder(jpeg, options.try_recover_truncated, false);
  jpeg_decompress_struct& info = decoder.info();
  const int64_t channels = options.channels ? options.channels : std::min(info.num_components, 3);
  if (channels == 2) throw invalid_argument("the JPEG picture has 2 channels, which are neither grey nor colours");
  choose_colours(info, channels);
  info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(options.ratio);
  info.dct_method = options.accurate_dct ? JDCT_ISLOW : JDCT_IFAST;
  decoder.guarded([&info] { jpeg_calc_output_dimensions(&info); });
  const int64_t height = decoder.height(), width = decoder.width();
  if (height * width * info.num_components >= kMostBytes) {
    throw invalid_argument("Invalid JPEG data or crop window, data size {}: a picture of {} x {} is too large",
                           jpeg.size(), height, width);
  }
  if (!options.try_recover_truncated && options.acceptable_fraction >= 1) decoder.require_bytes_for_pixels();
  const JpegCrop crop = options.crop.value_or(JpegCrop{0, 0, height, width});
  require_crop(crop, height, width, jpeg.size());

  Lines lines(decoder, options, crop, channels);
  Tensor pixels(uint8, {crop.height, crop.width, channels});
  auto* out = pixels.mutable_data<uint8_t>();
  const int64_t read = lines.read(out);
  if (static_cast<float>(read) / static_cast<float>(crop.height) < std::min(1.0f, options.acceptable_fraction)) {
    throw invalid_argument("Invalid JPEG data or crop window, data size {}: it ends at line {} of {}", jpeg.size(),
                           read, crop.height);
  }
  // The end marker must be there, unless the end is not looked at.
  if (read == height && !options.try_recover_truncated) decoder.finish();
  std::fill(out + read * crop.width * channels, out + pixels.elements(), uint8_t{0});
  return pixels;
}

void decode_jpeg(std::string_view jpeg, JpegSize size, std::span<uint8_t> rgb) {
  require_jpeg(jpeg);
  Decoder decoder(jpeg, false, true);
  jpeg_decompress_struct& info = decoder.info();
  if (info.image_height != size.height || info.image_width != size.width) {
    throw invalid_argument("the JPEG picture has {} x {} pixels, expected {} x {}", info.image_height, info.image_width,
                           size.height, size.width);
  }
  const J_COLOR_SPACE colours = info.jpeg_color_space;
  if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB) {
    throw invalid_argument("the JPEG picture has {} channels that are not grey, YCbCr or RGB", info.num_components);
  }
  info.out_color_space = JCS_RGB;
  const JpegDecodeOptions options;
  Lines lines(decoder, options, {0, 0, size.height, size.width}, 3);
  const int64_t read = lines.read(rgb.data());
  if (read < size.height) {
    throw error(Code::DataLoss, "the JPEG file of {} bytes is damaged: it ends at line {} of {}", jpeg.size(), read,
                size.height);
  }
  decoder.finish();
}

JpegShape jpeg_shape(std::string_view jpeg) {
  require_jpeg(jpeg);
  Decoder decoder(jpeg, false, false);
  jpeg_decompress_struct& info = decoder.info();
  decoder.guarded([&info] { jpeg_calc_output_dimensions(&info); });
  return {decoder.height(), decoder.width(), info.out_color_components};
}

}  // namespace weir
