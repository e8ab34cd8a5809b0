#include "ops/image/decode_image.h"

#include <string>

#include "base/errors.h"

namespace weir::ops {
namespace {

// The first bytes of a file as text.
std::string escaped(std::string_view bytes) {
  std::string text;
  for (char byte : bytes.substr(0, 16)) {
    if (byte >= ' ' && byte <= '~' && byte != '\\' && byte != '\'') {
      text += byte;
    } else {
      text += fmt::format("\\{:03o}", static_cast<uint8_t>(byte));
    }
  }
  return text;
}

void require_dtype(const DecodeState& state, std::string_view format) {
  if (state.dtype != uint8) throw invalid_argument("{} does not support uint16 output", format);
}

Tensor gif_pixels(const DecodeState& state, std::string_view file) {
  require_dtype(state, "GIF");
  if (state.channels != 0 && state.channels != 3) {
    throw invalid_argument("channels must be 0 or 3 for GIF, got {}", state.channels);
  }
  Tensor frames = decode_gif(file);
  if (state.decoding == Decoding::Gif) return frames;
  const Shape& shape = frames.shape();
  if (shape[0] != 1) {
    throw invalid_argument(
        "Got {} frames, but animated gifs can only be decoded by tf.image.decode_gif or tf.image.decode_image",
        shape[0]);
  }
  return frames.reshaped({shape[1], shape[2], shape[3]});
}

// A picture is a film of one frame to DecodeGif.
Tensor framed(const DecodeState& state, const Tensor& pixels) {
  if (state.decoding != Decoding::Gif) return pixels;
  const Shape& shape = pixels.shape();
  return pixels.reshaped({1, shape[0], shape[1], shape[2]});
}

JpegDecodeOptions jpeg_options(KernelContext& c, const DecodeState& state) {
  JpegDecodeOptions options = state.jpeg;
  if (state.decoding == Decoding::JpegCrop) {
    const auto* window = c.input<int32_t>(1);
    options.crop = JpegCrop{window[0], window[1], window[2], window[3]};
  }
  return options;
}

}  // namespace

DecodeState decode_state(const AttrMap& attrs, Decoding decoding) {
  DecodeState state{.decoding = decoding};
  if (decoding == Decoding::Gif) {
    state.channels = state.jpeg.channels = 3;
    return state;
  }
  const int64_t channels = state.channels = state.jpeg.channels = attrs.get<int64_t>("channels");
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    throw invalid_argument("channels must be 0, 1, 3, or 4, got {}", channels);
  }
  if (decoding == Decoding::Png) {
    state.dtype = attrs.get<DType>("dtype");
    return state;
  }
  JpegDecodeOptions& jpeg = state.jpeg;
  jpeg.ratio = attrs.get<int64_t>("ratio");
  if (jpeg.ratio != 1 && jpeg.ratio != 2 && jpeg.ratio != 4 && jpeg.ratio != 8) {
    throw invalid_argument("ratio must be 1, 2, 4, or 8, got {}", jpeg.ratio);
  }
  jpeg.fancy_upscaling = attrs.get<bool>("fancy_upscaling");
  jpeg.try_recover_truncated = attrs.get<bool>("try_recover_truncated");
  jpeg.acceptable_fraction = attrs.get<float>("acceptable_fraction");
  const auto& method = attrs.get<std::string>("dct_method");
  if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE") {
    throw invalid_argument("dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got '{}'", method);
  }
  jpeg.accurate_dct = method == "INTEGER_ACCURATE";
  return state;
}

void infer_decoded(InferContext& c) {
  c.require_scalar(0);
  const int64_t channels = c.attr<int64_t>("channels");
  if (channels < 0) throw invalid_argument("channels must be non-negative, got {}", channels);
  c.set_output(0, Shape{kUnknown, kUnknown, channels == 0 ? kUnknown : channels});
}

void decode_image(KernelContext& c) {
  const auto& state = c.state<DecodeState>();
  const std::string_view file = c.input<std::string>(0)[0];
  switch (image_format(file)) {
    case ImageFormat::Jpeg:
      require_dtype(state, "JPEG");
      c.set_output(0, framed(state, decode_jpeg(file, jpeg_options(c, state))));
      return;
    case ImageFormat::Png:
      c.set_output(0, framed(state, decode_png(file, state.channels, state.dtype)));
      return;
    case ImageFormat::Gif:
      c.set_output(0, gif_pixels(state, file));
      return;
    default:
      throw invalid_argument("Expected image (JPEG, PNG, or GIF), got {}",
                             file.empty() ? "empty file" : "unknown format starting with '" + escaped(file) + "'");
  }
}

}  // namespace weir::ops
