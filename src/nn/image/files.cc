#include "nn/image/checks.h"
#include "weir/control_flow.h"
#include "weir/image.h"
#include "weir/ops.h"
#include "weir/string_ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

// A number of channels, checked by nodes as TensorFlow does: the branch may never run.
struct Channels {
  Graph& g;
  int64_t number;

  Output is_not(int64_t refused, std::string_view name) const { return not_equal(number_of(name), refused, name); }
  Operation require(const Output& condition, const char* message) const { return assert_true(condition, {message}); }

 private:
  Output number_of(std::string_view name) const { return g.constant(Literal(number), int32, std::string(name) + "/x"); }
};

}  // namespace

Output is_jpeg(const In& in, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "is_jpeg" : name);
  return equal(substr(in, 0, 3), "\xff\xd8\xff", name);
}

Output decode_image(const In& in, const DecodeImageOptions& options, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  const int64_t channels = options.channels;
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    throw invalid_argument("channels must be in (None, 0, 1, 3, 4)");
  }
  Scope scope = g.name_scope(name.empty() ? "decode_image" : name);
  Output contents = as_output(g, in, string, "contents");
  const Channels wanted{g, channels};
  const DType dtype = options.dtype;
  Output start = substr(contents, 0, 3);

  auto bmp = [&] {
    Output is_bmp = equal(substr(contents, 0, 2), "BM", "is_bmp");
    Operation format = wanted.require(is_bmp, "Unable to decode bytes as JPEG, PNG, GIF, or BMP");
    Operation good =
        wanted.require(wanted.is_not(1, "check_channels"), "Channels must be in (None, 0, 3) when decoding BMP images");
    Scope checks = g.control_dependencies({format, good});
    return convert_image_dtype(decode_bmp(contents), dtype);
  };
  auto gif = [&] {
    Output not_one = wanted.is_not(1, "check_gif_channels"), not_four = wanted.is_not(4, "check_gif_channels_1");
    Operation good =
        wanted.require(logical_and(not_one, not_four), "Channels must be in (None, 0, 3) when decoding GIF images");
    Scope checks = g.control_dependencies({good});
    Output frames = convert_image_dtype(decode_gif(contents), dtype);
    return options.expand_animations ? frames : gather(frames, 0);
  };
  auto png = [&] {
    return convert_image_dtype(decode_png(contents, {.channels = channels, .dtype = dtype == uint8 ? uint8 : uint16}),
                               dtype);
  };
  auto jpeg = [&] {
    Operation good = wanted.require(wanted.is_not(4, "check_jpeg_channels"),
                                    "Channels must be in (None, 0, 1, 3) when decoding JPEG images");
    Scope checks = g.control_dependencies({good});
    return convert_image_dtype(decode_jpeg(contents, {.channels = channels}), dtype);
  };
  auto gif_or_bmp = [&] { return cond(equal(start, "GIF", "is_gif"), gif, bmp, "cond_gif"); };
  auto png_or_other = [&] {
    Output is_png;
    {
      Scope png_scope = g.name_scope("is_png");
      is_png = equal(substr(contents, 0, 3), "\x89PN");
    }
    return cond(is_png, png, gif_or_bmp, "cond_png");
  };
  return cond(is_jpeg(contents), jpeg, png_or_other, "cond_jpeg");
}

Output adjust_jpeg_quality(const In& in, const In& quality, std::string_view name) {
  Graph& g = graph_of(in, quality);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "adjust_jpeg_quality" : name);
  Output image = as_output(g, in, float32, "image");
  Output bytes = convert_image_dtype(image, uint8);
  Output file = encode_jpeg_variable_quality(bytes, as_output(g, quality, int32, "Const"));
  return convert_image_dtype(decode_jpeg(file), image.dtype());
}

}  // namespace weir::image
