#include "graph/node.h"
#include "nn/image/checks.h"
#include "weir/image.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

Output filtered(const Output& images, const Output& size, const std::string& kernel, bool antialias) {
  Output to = cast(size, float32);
  Output scale = to / cast(subscript(shape(images), {between(1, 3)}), float32);
  Output origin = zeros(images.graph(), {2});
  return scale_and_translate(images, size, scale, origin, {.kernel_type = kernel, .antialias = antialias});
}

Output resized(const Output& images, const Output& size, const ResizeImagesOptions& options) {
  const ResizeOptions corners{.align_corners = options.align_corners, .half_pixel_centers = options.half_pixel_centers};
  const bool antialias = options.antialias;
  switch (options.method) {
    case ResizeMethod::Lanczos3:
      return filtered(images, size, "lanczos3", antialias);
    case ResizeMethod::Lanczos5:
      return filtered(images, size, "lanczos5", antialias);
    case ResizeMethod::Gaussian:
      return filtered(images, size, "gaussian", antialias);
    case ResizeMethod::MitchellCubic:
      return filtered(images, size, "mitchellcubic", antialias);
    case ResizeMethod::NearestNeighbor:
      return resize_nearest_neighbor(images, size, corners);
    case ResizeMethod::Bicubic:
      return antialias ? filtered(images, size, "keyscubic", true) : resize_bicubic(images, size, corners);
    case ResizeMethod::Area:
      return resize_area(images, size, options.align_corners);
    default:
      return antialias ? filtered(images, size, "triangle", true) : resize_bilinear(images, size, corners);
  }
}

// tf.cast of a size, which makes a constant "Cast/x" of a number first.
Output cast_length(Graph& g, const Length& length, DType dtype) {
  if (!length.known()) return cast(length.tensor(), dtype);
  Scope scope = g.name_scope("Cast");
  return cast(g.constant(Literal(length.number()), int32, "x"), dtype, scope.name());
}

// The largest size within `size` that has the pictures' proportions.
Output proportional(const Output& images, const Shape& size) {
  Graph& g = images.graph();
  if (!size.is_known()) throw invalid_argument("to preserve the aspect ratio, 'size' must be known");
  const std::vector<Length> dims = dimensions(images, 4);
  auto factor = [&](int i) {
    Output to = cast_length(g, size[i], float32);
    return to / cast_length(g, dims[static_cast<size_t>(i + 1)], float32);
  };
  Output by_height = factor(0), by_width = factor(1);
  Output scale = minimum(by_height, by_width);
  auto scaled = [&](size_t i) { return cast(round(scale * cast_length(g, dims[i], float32)), int32); };
  Output height = scaled(1), width = scaled(2);
  return stack({height, width}, 0, "size");
}

}  // namespace

Output resize(const In& in, const In& wanted, const ResizeImagesOptions& options, std::string_view name) {
  Graph& g = graph_of(in, wanted);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "resize" : name);
  Output images = as_output(g, in, float32, "images");
  if (!images.shape().has_rank()) throw invalid_argument("'images' contains no shape.");
  if (images.shape().rank() != 3 && images.shape().rank() != 4) {
    throw invalid_argument("'images' must have either 3 or 4 dimensions.");
  }
  const Batch batch = as_batch(images);
  Output size = as_output(g, wanted, int32, "size");
  if (size.dtype() != int32) throw invalid_argument("'size' must be a 1-D int32 Tensor");
  if (!size.shape().compatible(Shape{2})) {
    throw invalid_argument("'size' must be a 1-D Tensor of 2 elements: new_height, new_width");
  }
  Shape known = constant_value_as_shape(size).merged(Shape::unknown_dims(2));
  if (options.preserve_aspect_ratio) {
    size = proportional(batch.images, known);
    known = constant_value_as_shape(size).merged(Shape::unknown_dims(2));
  }
  const Shape& shape = batch.images.shape();
  const bool same = known.is_known() && known[0] == shape[1] && known[1] == shape[2];
  if (same && !options.half_pixel_centers) return batch.undo(batch.images);
  Output result = resized(batch.images, size, options);
  result.set_shape({kUnknown, known[0], known[1], kUnknown});
  return batch.undo(result);
}

Output resize_with_pad(const In& in, const In& target_height, const In& target_width,
                       const ResizeImagesOptions& options) {
  Graph& g = graph_of(in, target_height, target_width);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("resize_image_with_pad");
  const Batch batch = as_batch(as_output(g, in, float32, "image"));
  const Length height(target_height), width(target_width);
  Checks checks(g);
  checks.at_least_3d(batch.images);
  checks.positive(width, "target_width must be > 0.");
  checks.positive(height, "target_height must be > 0.");
  Output images = checks.after(batch.images);

  const std::vector<Length> dims = dimensions(images, 4);
  Output tall = cast_length(g, dims[1], float64), wide = cast_length(g, dims[2], float64);
  Output to_tall = cast_length(g, height, float64), to_wide = cast_length(g, width, float64);
  Output across = wide / to_wide, down = tall / to_tall;
  Output ratio = maximum(across, down);
  Output new_tall = tall / ratio, new_wide = wide / ratio;
  Output rows = cast(floor(new_tall), int32), columns = cast(floor(new_wide), int32);
  Output pad_rows = (to_tall - new_tall) / 2, pad_columns = (to_wide - new_wide) / 2;
  Output top_floor = floor(pad_rows), left_floor = floor(pad_columns);
  Output top = maximum(0, cast(top_floor, int32)), left = maximum(0, cast(left_floor, int32));
  Output size;
  {
    // The list becomes a tensor inside of the function that takes it.
    Scope resize_scope = g.name_scope("resize");
    size = stack({rows, columns}, 0, "size");
    const Shape known = constant_value_as_shape(size).merged(Shape::unknown_dims(2));
    const Shape& shape = images.shape();
    const bool same = known.is_known() && known[0] == shape[1] && known[1] == shape[2];
    if (!same || options.half_pixel_centers) {
      images = resized(images, size, options);
      images.set_shape({kUnknown, known[0], known[1], kUnknown});
    }
  }
  Output padded = pad_to_bounding_box(images, {top, left, height.in(), width.in()});
  dimensions(padded, 4);
  return batch.undo(padded);
}

}  // namespace weir::image
