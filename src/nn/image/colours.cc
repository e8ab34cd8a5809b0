#include <cmath>
#include <limits>

#include "nn/image/checks.h"
#include "weir/image.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

// The largest value of an integer type.
double largest(DType dtype) {
  const size_t bits = 8 * dtype_size(dtype);
  const bool is_signed = dtype == int8 || dtype == int16 || dtype == int32 || dtype == int64;
  return std::ldexp(1.0, static_cast<int>(bits) - (is_signed ? 1 : 0)) - 1;
}
double smallest(DType dtype) {
  const bool is_signed = dtype == int8 || dtype == int16 || dtype == int32 || dtype == int64;
  return is_signed ? -largest(dtype) - 1 : 0;
}
double floating_largest(DType dtype) {
  if (dtype == float16) return 65504;
  return dtype == float64 ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max());
}
double most(DType dtype) { return is_floating(dtype) ? floating_largest(dtype) : largest(dtype); }
double least(DType dtype) { return is_floating(dtype) ? -floating_largest(dtype) : smallest(dtype); }

// Values that do not fit become the nearest that do.
Output saturate_cast(const Output& in, DType dtype, std::string_view name) {
  Graph& g = in.graph();
  Scope scope = g.name_scope(name.empty() ? "saturate_cast" : name);
  Output value = in;
  if (least(value.dtype()) < least(dtype)) {
    value = maximum(value, g.constant(literal_of(least(dtype), value.dtype()), value.dtype(), "min"));
  }
  if (most(value.dtype()) > most(dtype)) {
    value = minimum(value, g.constant(literal_of(most(dtype), value.dtype()), value.dtype(), "max"));
  }
  return cast(value, dtype, scope.name());
}

Output convert_integers(const Output& image, DType dtype, bool saturate, std::string_view name) {
  Graph& g = image.graph();
  const double in = largest(image.dtype()), out = largest(dtype);
  if (in > out) {
    const double scale = std::floor((in + 1) / (out + 1));
    Output scaled;
    {
      Scope scope = g.name_scope("div");
      scaled = div(image, g.constant(literal_of(scale, image.dtype()), image.dtype(), "y"), scope.name());
    }
    return saturate ? saturate_cast(scaled, dtype, name) : cast(scaled, dtype, name);
  }
  Output wide = saturate ? saturate_cast(image, dtype, {}) : cast(image, dtype);
  const double scale = std::floor((out + 1) / (in + 1));
  return multiply(wide, g.constant(literal_of(scale, dtype), dtype, "y"), name);
}

// For the functions below: as floating point, and back.
struct Floating {
  Output image;
  DType original;
  Floating(const Output& from)  // NOLINT
      : image(from.dtype() == float16 || from.dtype() == float32 ? from : convert_image_dtype(from, float32)),
        original(from.dtype()) {}
};

Output times_matrix(const In& in, const Tensor& matrix) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Output images = as_output(g, in, float32, "images");
  Output kernel = g.constant(convert_literal(matrix, images.dtype()), "kernel");
  if (!images.shape().has_rank()) throw invalid_argument("the rank of the images must be known");
  return tensordot(images, kernel, std::vector<int64_t>{images.shape().rank() - 1}, std::vector<int64_t>{0});
}

Tensor matrix(std::initializer_list<double> rows) { return Tensor::from<double>(rows, {3, 3}); }

}  // namespace

Output convert_image_dtype(const In& in, DType dtype, const ConvertOptions& options, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Output image = as_output(g, in, float32, "image");
  if (!is_floating(dtype) && !is_integer(dtype)) {
    throw invalid_argument("dtype must be either floating point or integer");
  }
  if (dtype == image.dtype()) return identity(image, name);
  Scope scope = g.name_scope(name.empty() ? "convert_image" : name);
  const std::string& full = scope.name();
  const bool from_integer = is_integer(image.dtype());
  if (from_integer && is_integer(dtype)) return convert_integers(image, dtype, options.saturate, full);
  if (!from_integer && is_floating(dtype)) return cast(image, dtype, full);
  if (from_integer) return multiply(cast(image, dtype), 1.0 / largest(image.dtype()), full);
  Output scaled = multiply(image, largest(dtype) + 0.5);  // the cast cuts off
  return options.saturate ? saturate_cast(scaled, dtype, full) : cast(scaled, dtype, full);
}

Output rgb_to_grayscale(const In& in, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "rgb_to_grayscale" : name);
  Output images = as_output(g, in, float32, "images");
  Output floating = convert_image_dtype(images, float32);
  const Tensor weights(std::vector<float>{0.2989f, 0.5870f, 0.1140f});
  Output grey = expand_dims(tensordot(floating, weights, std::vector<int64_t>{-1}, std::vector<int64_t>{-1}), -1);
  return convert_image_dtype(grey, images.dtype(), {}, scope.name());
}

Output grayscale_to_rgb(const In& in, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "grayscale_to_rgb" : name);
  Output image = as_output(g, in, float32, "images");
  const Shape& known = image.shape();
  if (known.has_rank() && known.rank() < 2) {
    throw invalid_argument("A grayscale image must be at least two-dimensional.");
  }
  Checks checks(g);
  if (known.is_known()) {
    if (known[-1] != 1) throw invalid_argument("Last dimension of a grayscale image should be size 1.");
  } else {
    Output last = subscript(shape(image), {-1});
    Scope equal_scope = g.name_scope("assert_equal");
    checks.add(assert_true(reduce_all(equal(last, g.constant(Literal(1), int32, "y"))),
                           {"Last dimension of a grayscale image should be size 1."}));
  }
  Output images = checks.after(image);
  Output outer = expand_dims(weir::rank(images) - 1, 0);
  Output ones_of_outer = ones(g, outer, int32);
  Output three = expand_dims(g.constant(Literal(3), int32, "ExpandDims_1/input"), 0);
  Output rgb = tile(images, concat({ones_of_outer, three}, 0), scope.name());
  if (known.has_rank()) {
    Shape shape = known;
    shape.set_dim(-1, 3);
    rgb.set_shape(shape);
  }
  return rgb;
}

Output rgb_to_yiq(const In& images) {
  return times_matrix(
      images, matrix({0.299, 0.59590059, 0.2115, 0.587, -0.27455667, -0.52273617, 0.114, -0.32134392, 0.31119955}));
}
Output yiq_to_rgb(const In& images) {
  return times_matrix(images,
                      matrix({1, 1, 1, 0.95598634, -0.27201283, -1.10674021, 0.6208248, -0.64720424, 1.70423049}));
}
Output rgb_to_yuv(const In& images) {
  return times_matrix(images, matrix({0.299, -0.14714119, 0.61497538, 0.587, -0.28886916, -0.51496512, 0.114,
                                      0.43601035, -0.10001026}));
}
Output yuv_to_rgb(const In& images) {
  return times_matrix(images, matrix({1, 1, 1, 0, -0.394642334, 2.03206185, 1.13988303, -0.58062185, 0}));
}

Output adjust_brightness(const In& in, const In& delta) {
  Graph& g = graph_of(in, delta);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("adjust_brightness");
  const Floating floating(as_output(g, in, float32, "image"));
  Output change;
  if (delta.output()) {
    change = cast(delta.output(), floating.image.dtype());
  } else {
    Scope cast_scope = g.name_scope("Cast");
    change = cast(g.constant(Literal(number_of(delta)), float32, "x"), floating.image.dtype(), cast_scope.name());
  }
  return convert_image_dtype(add(floating.image, change, scope.name()), floating.original, {.saturate = true});
}

Output adjust_contrast(const In& in, const In& factor) {
  Graph& g = graph_of(in, factor);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("adjust_contrast");
  const Floating floating(as_output(g, in, float32, "images"));
  Output adjusted = NodeBuilder("AdjustContrastv2", scope.name()).input(floating.image).input(factor).output();
  return convert_image_dtype(adjusted, floating.original, {.saturate = true});
}

Output adjust_gamma(const In& in, const In& gamma, const In& gain) {
  Graph& g = graph_of(in, gamma, gain);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("adjust_gamma");
  const Floating floating(as_output(g, in, float32, "image"));
  constexpr const char* kMessage = "Gamma should be a non-negative real number.";
  // Numbers take the picture's type.
  In exponent = gamma.output() ? gamma : In(number_of(gamma)), factor = gain.output() ? gain : In(number_of(gain));
  if (gamma.output()) {
    Checks checks(g);
    checks.add(assert_true(greater_equal(gamma, 0), {kMessage}));
    exponent = checks.after(gamma.output());
  } else if (!(number_of(gamma) >= 0)) {
    throw invalid_argument("{}", kMessage);
  }
  Output adjusted = factor * pow(floating.image, exponent, "pow");
  return convert_image_dtype(adjusted, floating.original, {.saturate = true});
}

Output adjust_hue(const In& in, const In& delta, std::string_view name) {
  Graph& g = graph_of(in, delta);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "adjust_hue" : name);
  const Floating floating(as_output(g, in, float32, "image"));
  Output altered = NodeBuilder("AdjustHue").input(floating.image).input(delta).output();
  return convert_image_dtype(altered, floating.original);
}

Output adjust_saturation(const In& in, const In& factor, std::string_view name) {
  Graph& g = graph_of(in, factor);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "adjust_saturation" : name);
  const Floating floating(as_output(g, in, float32, "image"));
  Output adjusted = NodeBuilder("AdjustSaturation").input(floating.image).input(factor).output();
  return convert_image_dtype(adjusted, floating.original);
}

Output per_image_standardization(const In& in) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("per_image_standardization");
  Output checked = require_at_least_3d(as_output(g, in, float32, "image"));
  const bool narrow = checked.dtype() == float16 || checked.dtype() == float32;
  Output image = narrow ? checked : cast(checked, float32);
  Output count = reduce_prod(subscript(shape(image), {from(-3)}));
  const ReduceOptions picture{.axes = {-1, -2, -3}, .keep_dims = true};
  Output mean = reduce_mean(image, picture);
  Output deviation;
  {
    Scope outer = g.name_scope("reduce_std");
    Scope inner = g.name_scope("reduce_variance");
    Output means = reduce_mean(image, picture);
    Output variance = reduce_mean(square(image - means), picture);
    Scope back = g.name_scope(outer.name());
    deviation = sqrt(variance);
  }
  // Keeps a picture of one colour from a division by 0.
  Output least_deviation = rsqrt(cast(count, image.dtype()));
  Output adjusted = maximum(deviation, least_deviation);
  Output centred = image - mean;
  Output standard = div(centred, adjusted, scope.name());
  return narrow ? identity(standard) : standard;
}

}  // namespace weir::image
