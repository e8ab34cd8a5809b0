#include "weir/clip.h"

#include "nn/convert.h"
#include "weir/ops.h"

namespace weir {
namespace {

// The numbers of a gradient; an empty output for none.
std::vector<Output> values_of(const std::vector<Gradient>& gradients) {
  std::vector<Output> values;
  for (const Gradient& g : gradients) {
    values.push_back(g.none() ? Output() : g.sparse() ? g.slices().values : g.dense());
  }
  return values;
}

Gradient with_values(const Gradient& gradient, const Output& values) {
  if (gradient.none()) return {};
  if (!gradient.sparse()) return values;
  return IndexedSlices{values, gradient.slices().indices, gradient.slices().dense_shape};
}

}  // namespace

Output clip_by_average_norm(const In& t, const In& clip_norm, std::string_view name) {
  Graph& g = nn::graph_of(t);
  LineScope line(g, source_line(t.where()));
  Scope scope = g.name_scope(name.empty() ? "clip_by_average_norm" : name);
  Output count = cast(size(t), float32);
  Output squares = t * t;
  Output axes = range(g, 0, rank(t));
  Output inverse_norm = rsqrt(reduce_sum(squares, axes));
  Output scaled = t * clip_norm;
  Output inverse_average = inverse_norm * count;
  Output one = g.constant(1.0, float32);
  Output limit = one / clip_norm;
  return identity(scaled * minimum(inverse_average, limit), scope.name());
}

Gradient clip_gradient_by_norm(const Gradient& gradient, const In& clip_norm, std::string_view name) {
  if (gradient.none()) return {};
  return with_values(gradient, clip_by_norm(values_of({gradient})[0], clip_norm, {}, name));
}

Output global_norm_of_gradients(const std::vector<Gradient>& gradients, std::string_view name, In::Where where) {
  return global_norm(values_of(gradients), name, where);
}

std::pair<std::vector<Gradient>, Output> clip_gradients_by_global_norm(const std::vector<Gradient>& gradients,
                                                                       const In& clip_norm, Output use_norm,
                                                                       std::string_view name) {
  auto [values, norm] = clip_by_global_norm(values_of(gradients), clip_norm, use_norm, name);
  std::vector<Gradient> clipped;
  for (size_t i = 0; i < gradients.size(); ++i) clipped.push_back(with_values(gradients[i], values[i]));
  return {std::move(clipped), norm};
}

}  // namespace weir
