#include "graph/node.h"
#include "nn/image/checks.h"
#include "weir/image.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

// A picture of two or three dimensions as a batch of one.
struct Ranked {
  Output images;
  int rank;

  explicit Ranked(const Output& image) : images(image), rank(image.shape().rank()) {
    if (!image.shape().has_rank()) throw wrong_type("image_or_images rank must be statically known");
    if (rank == 2) {
      images = subscript(image, {kNewAxis, kAll, kAll, kNewAxis});
    } else if (rank == 3) {
      images = subscript(image, {kNewAxis, kAll, kAll, kAll});
    } else if (rank != 4) {
      throw wrong_type("Images should have rank between 2 and 4.");
    }
  }
  Output undo(const Output& result) const {
    if (rank == 2) return subscript(result, {0, kAll, kAll, 0});
    return rank == 3 ? subscript(result, {0, kAll, kAll, kAll}) : result;
  }
};

Output column(const Output& x) { return subscript(x, {kAll, kNewAxis}); }

// Vectors and matrices alike.
Output as_rows(const Output& x, int rank, const char* message) {
  if (x.shape().rank() == rank - 1) return subscript(x, {kNewAxis});
  if (x.shape().rank() != rank) throw wrong_type("{}", message);
  return x;
}

Output scope_of(const In& in, DType type, std::string_view name) { return as_output(graph_of(in), in, type, name); }

}  // namespace

Output transform(const In& in, const In& transforms, const TransformOptions& options, std::string_view name) {
  Graph& g = graph_of(in, transforms);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "transform" : name);
  const Ranked picture(as_output(g, in, float32, "images"));
  Output rows = as_rows(as_output(g, transforms, float32, "transforms"), 2, "Transforms should have rank 1 or 2.");
  Output size;
  if (options.output_shape) {
    size = as_output(g, *options.output_shape, int32, "output_shape");
  } else {
    size = subscript(shape(picture.images), {between(1, 3)});
    const Tensor known = constant_value(size);
    if (known.valid()) size = g.constant(known, "output_shape");
  }
  if (!size.shape().compatible(Shape{2})) {
    throw invalid_argument("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width");
  }
  return picture.undo(NodeBuilder("ImageProjectiveTransformV2")
                          .input(picture.images)
                          .input(rows)
                          .input(size)
                          .attr("interpolation", options.interpolation)
                          .output());
}

Output rotate(const In& in, const In& angles, const TransformOptions& options, std::string_view name) {
  Graph& g = graph_of(in, angles);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "rotate" : name);
  const Ranked picture(as_output(g, in, float32, "Const"));
  auto length = [&](int axis) {
    return subscript(cast(subscript(shape(picture.images), {axis}), float32), {kNewAxis});
  };
  Output height = length(1), width = length(2);
  return picture.undo(transform(picture.images, angles_to_projective_transforms(angles, height, width), options));
}

Output translate(const In& in, const In& translations, const TransformOptions& options, std::string_view name) {
  Graph& g = graph_of(in, translations);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "translate" : name);
  Output moved = as_output(g, translations, float32, "translations");
  return transform(in, translations_to_projective_transforms(moved), options);
}

Output angles_to_projective_transforms(const In& in, const In& image_height, const In& image_width,
                                       std::string_view name) {
  Graph& g = graph_of(in, image_height, image_width);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "angles_to_projective_transforms" : name);
  Output angles = as_rows(as_output(g, in, float32, "angles"), 1, "Angles should have rank 0 or 1.");
  Output right = as_output(g, image_width, float32, "image_width") - 1;
  Output bottom = as_output(g, image_height, float32, "image_height") - 1;
  Output cosine = cos(angles), sine = sin(angles);
  // About the centre of the picture.
  Output x = (right - (cosine * right - sine * bottom)) / 2.0;
  Output y = (bottom - (sine * right + cosine * bottom)) / 2.0;
  Output count = subscript(shape(angles), {0});
  return concat(
      {column(cosine), -column(sine), column(x), column(sine), column(cosine), column(y), zeros(g, stack({count, 2}))},
      1);
}

Output translations_to_projective_transforms(const In& in, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "translations_to_projective_transforms" : name);
  Output moved = as_rows(as_output(g, in, float32, "translations"), 2, "Translations should have rank 1 or 2.");
  Output count = subscript(shape(moved), {0});
  Output one = ones(g, stack({count, 1})), zero = zeros(g, stack({count, 1}));
  auto back = [&](int axis) { return -subscript(moved, {kAll, axis, kNewAxis}); };
  return concat({one, zero, back(0), zero, one, back(1), zeros(g, stack({count, 2}))}, 1);
}

Output flat_transforms_to_matrices(const In& in) {
  LineScope line(graph_of(in), source_line(in.where()));
  Scope scope = graph_of(in).name_scope("flat_transforms_to_matrices");
  Output flat = scope_of(in, float32, "transforms");
  if (flat.shape().rank() != 1 && flat.shape().rank() != 2) {
    throw invalid_argument("Transforms should be 1D or 2D, got: {}", flat.shape().str());
  }
  Output rows = reshape(flat, {-1, 8});
  Output count = subscript(shape(rows), {0});
  return reshape(concat({rows, ones(rows.graph(), stack({count, 1}))}, 1), {-1, 3, 3});
}

Output matrices_to_flat_transforms(const In& in) {
  LineScope line(graph_of(in), source_line(in.where()));
  Scope scope = graph_of(in).name_scope("matrices_to_flat_transforms");
  Output matrices = scope_of(in, float32, "transform_matrices");
  if (matrices.shape().rank() != 2 && matrices.shape().rank() != 3) {
    throw invalid_argument("Matrices should be 2D or 3D, got: {}", matrices.shape().str());
  }
  Output rows = reshape(matrices, {-1, 9});
  rows = rows / subscript(rows, {kAll, between(8, 9)});
  return subscript(rows, {kAll, until(8)});
}

Output compose_transforms(const std::vector<Output>& transforms) {
  if (transforms.empty()) throw invalid_argument("transforms cannot be empty");
  Graph& g = transforms[0].graph();
  Scope scope = g.name_scope("compose_transforms");
  Output composed = flat_transforms_to_matrices(transforms[0]);
  for (size_t i = 1; i < transforms.size(); ++i) {
    composed = matmul(composed, flat_transforms_to_matrices(transforms[i]));
  }
  return matrices_to_flat_transforms(composed);
}

}  // namespace weir::image
