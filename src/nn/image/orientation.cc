#include "nn/image/checks.h"
#include "weir/control_flow.h"
#include "weir/image.h"
#include "weir/ops.h"

namespace weir::image {
namespace {

using nn::as_output;
using nn::graph_of;

[[noreturn]] void fail_rank() { throw invalid_argument("'image' must have either 3 or 4 dimensions."); }

// Along an axis of a single picture.
Output flip(const In& in, int axis, std::string_view scope_name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(scope_name);
  Output image = require_at_least_3d(as_output(g, in, float32, "image"));
  const int rank = image.shape().rank();
  if (rank == 4) return reverse(image, {axis + 1});
  if (rank != 3 && image.shape().has_rank()) fail_rank();
  return with_flipped_shape(image, reverse(image, {axis}));
}

// A batch: a number of 0 or 1 for each picture.
Output random_flip_batch(const Output& image, int axis, const RandomOptions& options) {
  Graph& g = image.graph();
  Output count = subscript(shape(image), {0});
  Output uniform = random_uniform(g, stack({count}, 0, "random_uniform/shape"), {.seed = options.seed});
  Output flips;
  {
    Scope reshape_scope = g.name_scope("Reshape");
    flips = reshape(uniform, stack({count, 1, 1, 1}, 0, "shape"), reshape_scope.name());
  }
  flips = cast(round(flips), image.dtype());
  Output flipped = reverse(image, {axis + 1});
  return flips * flipped + (1 - flips) * image;
}

Output random_flip(const In& in, int axis, const RandomOptions& options, std::string_view scope_name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(scope_name);
  Output image = require_at_least_3d(as_output(g, in, float32, "image"));
  const int rank = image.shape().rank();
  if (rank == 4) return random_flip_batch(image, axis, options);
  if (rank != 3 && image.shape().has_rank()) fail_rank();
  Output uniform = random_uniform(g, g.constant(Tensor(std::vector<int32_t>{}), "random_uniform/shape"),
                                  {.minval = 0, .maxval = In(1.0), .seed = options.seed});
  Output mirrored = less(uniform, 0.5);
  Output result = cond(
      mirrored, [&] { return reverse(image, {axis}); }, [&] { return image; }, scope.name());
  return with_flipped_shape(image, result);
}

}  // namespace

Output flip_left_right(const In& image) { return flip(image, 1, "flip_left_right"); }
Output flip_up_down(const In& image) { return flip(image, 0, "flip_up_down"); }
Output random_flip_left_right(const In& image, const RandomOptions& options) {
  return random_flip(image, 1, options, "random_flip_left_right");
}
Output random_flip_up_down(const In& image, const RandomOptions& options) {
  return random_flip(image, 0, options, "random_flip_up_down");
}

Output rot90(const In& in, const In& turns, std::string_view name) {
  Graph& g = graph_of(in, turns);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "rot90" : name);
  Output image = require_at_least_3d(as_output(g, in, float32, "image"));
  Output k = as_output(g, turns, int32, "k");
  if (k.shape().has_rank() && !k.shape().is_scalar()) {
    throw invalid_argument("Shape {} must have rank 0", k.shape().str());
  }
  k = mod(k, 4);
  const int rank = image.shape().rank();
  if (rank != 3 && rank != 4 && image.shape().has_rank()) fail_rank();
  const int rows = rank == 4 ? 1 : 0, columns = rows + 1;
  const In turned = rank == 4 ? In({0, 2, 1, 3}) : In({1, 0, 2});
  const std::vector<Case> cases = {{equal(k, 1), [&] { return weir::transpose(reverse(image, {columns}), turned); }},
                                   {equal(k, 2),
                                    [&] {
                                      return reverse(image, {rows, columns});
                                    }},
                                   {equal(k, 3), [&] { return reverse(weir::transpose(image, turned), {columns}); }}};
  Output result = case_(cases, [&] { return image; }, {.exclusive = true, .name = scope.name()});
  const Shape known = image.shape().merged(Shape::unknown_dims(rank == 4 ? 4 : 3));
  result.set_shape(rank == 4 ? Shape{known[0], kUnknown, kUnknown, known[3]} : Shape{kUnknown, kUnknown, known[2]});
  return result;
}

Output transpose(const In& in, std::string_view name) {
  Graph& g = graph_of(in);
  LineScope line(g, source_line(in.where()));
  Scope scope = g.name_scope(name.empty() ? "transpose" : name);
  Output image = require_at_least_3d(as_output(g, in, float32, "image"));
  const int rank = image.shape().rank();
  if (rank == 4) return weir::transpose(image, {0, 2, 1, 3}, name);
  if (rank != 3 && image.shape().has_rank()) fail_rank();
  return weir::transpose(image, {1, 0, 2}, name);
}

}  // namespace weir::image
