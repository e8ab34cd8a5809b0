#include "nn/image/checks.h"
#include "weir/image.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

struct Box {
  Length top, left, height, width;
  explicit Box(const BoundingBox& box)
      : top(box.offset_height), left(box.offset_width), height(box.target_height), width(box.target_width) {}
};

// Where the middle part of a dimension begins.
Length middle(const Length& size, double fraction) {
  if (size.known()) {
    const auto length = static_cast<double>(size.number());
    return static_cast<int64_t>((length - length * fraction) / 2);
  }
  Output length = cast(size.tensor(), float64);
  return cast((length - length * fraction) / 2, int32);
}

Output crop_batch(const Output& images, const Box& box) {
  Graph& g = images.graph();
  Checks checks(g);
  checks.at_least_3d(images);
  const std::vector<Length> dims = dimensions(images, 4);
  checks.at_least(box.left, 0, "offset_width must be >= 0.");
  checks.at_least(box.top, 0, "offset_height must be >= 0.");
  checks.positive(box.width, "target_width must be > 0.");
  checks.positive(box.height, "target_height must be > 0.");
  checks.at_least(dims[2], box.width + box.left, "width must be >= target + offset.");
  checks.at_least(dims[1], box.height + box.top, "height must be >= target + offset.");
  Output checked = checks.after(images);
  Output begin = stack_lengths(g, {0, box.top, box.left, 0});
  Output cropped = slice(checked, begin, stack_lengths(g, {-1, box.height, box.width, -1}));
  cropped.set_shape({dims[0].dim(), box.height.dim(), box.width.dim(), dims[3].dim()});
  return cropped;
}

Output pad_batch(const Output& images, const Box& box) {
  Graph& g = images.graph();
  Checks checks(g);
  checks.at_least_3d(images);
  const std::vector<Length> dims = dimensions(images, 4);
  const Length right = box.width - box.left - dims[2], bottom = box.height - box.top - dims[1];
  checks.at_least(box.top, 0, "offset_height must be >= 0");
  checks.at_least(box.left, 0, "offset_width must be >= 0");
  checks.at_least(right, 0, "width must be <= target - offset");
  checks.at_least(bottom, 0, "height must be <= target - offset");
  Output checked = checks.after(images);
  Output paddings = reshape(stack_lengths(g, {0, 0, box.top, bottom, box.left, right, 0, 0}), {4, 2});
  Output padded = pad(checked, paddings);
  padded.set_shape({dims[0].dim(), box.height.dim(), box.width.dim(), dims[3].dim()});
  return padded;
}

template <class Function>
Output with_box(const In& in, const BoundingBox& box, std::string_view name, Function function) {
  Graph& g = graph_of(in, box.offset_height, box.offset_width, box.target_height, box.target_width);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name);
  const Batch batch = as_batch(as_output(g, in, float32, "image"));
  return batch.undo(function(batch.images, Box(box)));
}

}  // namespace

Output central_crop(const In& in, double fraction) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("central_crop");
  Output image = as_output(g, in, float32, "image");
  if (!(fraction > 0 && fraction <= 1)) throw invalid_argument("central_fraction must be within (0, 1]");
  if (fraction == 1) return image;
  require_at_least_3d(image);
  const Shape& known = image.shape();
  const int rank = known.rank();
  if (rank != 3 && rank != 4) {
    throw invalid_argument("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {}.",
                           known.has_rank() ? std::to_string(rank) : "None");
  }
  const int rows = rank - 3;
  auto size = [&](int axis) -> Length {
    return known[axis] == kUnknown ? Length(subscript(shape(image), {axis})) : Length(known[axis]);
  };
  const Length height = size(rows), width = size(rows + 1);
  const Length top = middle(height, fraction), left = middle(width, fraction);
  auto rest = [](const Length& all, const Length& start) -> Length {
    if (all.known()) return all.number() - start.number() * 2;
    return all.tensor() - start.tensor() * 2;
  };
  const Length tall = rest(height, top), wide = rest(width, left);
  std::vector<Length> begin = {top, left, 0}, count = {tall, wide, -1};
  if (rank == 4) {
    begin.insert(begin.begin(), 0);
    count.insert(count.begin(), -1);
  }
  Output starts = stack_lengths(g, begin);
  Output cropped = slice(image, starts, stack_lengths(g, count));
  Shape shape = known;
  shape.set_dim(rows, tall.dim());
  shape.set_dim(rows + 1, wide.dim());
  cropped.set_shape(shape);
  return cropped;
}

Output crop_to_bounding_box(const In& image, const BoundingBox& box) {
  return with_box(image, box, "crop_to_bounding_box", crop_batch);
}

Output pad_to_bounding_box(const In& image, const BoundingBox& box) {
  return with_box(image, box, "pad_to_bounding_box", pad_batch);
}

Output resize_with_crop_or_pad(const In& in, const In& target_height, const In& target_width) {
  Graph& g = graph_of(in, target_height, target_width);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope("resize_image_with_crop_or_pad");
  const Batch batch = as_batch(as_output(g, in, float32, "image"));
  Length height(target_height), width(target_width);
  Checks checks(g);
  checks.at_least_3d(batch.images);
  checks.positive(width, "target_width must be > 0.");
  checks.positive(height, "target_height must be > 0.");
  Output images = checks.after(batch.images);
  if (!height.known()) height = checks.after(height.tensor());
  if (!width.known()) width = checks.after(width.tensor());

  const std::vector<Length> dims = dimensions(images, 4);
  auto half = [](const Length& length) { return max(floordiv(length, 2), 0); };
  const Length wider = width - dims[2];
  const Length crop_left = half(-wider), pad_left = half(wider);
  const Length taller = height - dims[1];
  const Length crop_top = half(-taller), pad_top = half(taller);
  const Length kept_height = min(height, dims[1]), kept_width = min(width, dims[2]);
  Output cropped = crop_to_bounding_box(images, {crop_top.in(), crop_left.in(), kept_height.in(), kept_width.in()});
  Output resized = pad_to_bounding_box(cropped, {pad_top.in(), pad_left.in(), height.in(), width.in()});

  const std::vector<Length> result = dimensions(resized, 4);
  Checks sizes(g);
  sizes.equal(result[1], height, "resized height is not correct.");
  sizes.equal(result[2], width, "resized width is not correct.");
  return batch.undo(sizes.after(resized));
}

}  // namespace weir::image
