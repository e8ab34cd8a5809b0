#include <limits>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/nn.h"
#include "weir/ops.h"

namespace weir {
namespace {

const Output& first_of(const std::vector<Output>& tensors) {
  for (const Output& t : tensors) {
    if (t) return t;
  }
  throw invalid_argument("there is no tensor to take the norm of");
}

}  // namespace

Output clip_by_norm(const In& t, const In& clip_norm, const Axes& axes, std::string_view name) {
  if (!t.output()) throw invalid_argument("clip_by_norm: the argument belongs to no graph");
  Graph& graph = t.output().graph();
  LineScope line(graph, source_line(t.where()));
  Scope scope = graph.name_scope(name.empty() ? "clip_by_norm" : name);
  Output squares = reduce_sum(t * t, {.axes = axes, .keep_dims = true});
  // The root is taken of positive numbers only: at 0 its gradient is infinite.
  Output positive = squares > 0;
  Output safe_squares = where(positive, squares, ones_like(squares));
  Output norm = where(positive, sqrt(safe_squares), squares);
  Output scaled = t * clip_norm;
  (void)t.output().shape().merged(scaled.shape());
  Output limit = maximum(norm, clip_norm);
  return identity(scaled / limit, scope.name());
}

Output global_norm(const std::vector<Output>& tensors, std::string_view name, In::Where where) {
  Graph& graph = first_of(tensors).graph();
  LineScope line(graph, source_line(where));
  Scope scope = graph.name_scope(name.empty() ? "global_norm" : name);
  std::vector<Output> halves;
  for (const Output& t : tensors) {
    if (!t) continue;
    Scope beside = graph.colocate_with(t.op());
    halves.push_back(nn::l2_loss(t));
  }
  Output half = reduce_sum(stack(halves));
  Output two = graph.constant(2.0, half.dtype());
  return sqrt(half * two, "global_norm");
}

std::pair<std::vector<Output>, Output> clip_by_global_norm(const std::vector<Output>& tensors, const In& clip_norm,
                                                           Output use_norm, std::string_view name) {
  Graph& graph = first_of(tensors).graph();
  LineScope line(graph, source_line(clip_norm.where()));
  if (!use_norm) use_norm = global_norm(tensors, name, clip_norm.where());
  Scope scope = graph.name_scope(name.empty() ? "clip_by_global_norm" : name);
  Output inverse = 1.0 / use_norm;
  Output one = graph.constant(1.0, use_norm.dtype());
  Output inverse_limit = one / clip_norm;
  Output scale = clip_norm * minimum(inverse, inverse_limit);
  // A norm that is not finite makes every result NaN, so that the failure is seen.
  Output finite = is_finite(use_norm);
  Output nan = graph.constant(std::numeric_limits<double>::quiet_NaN(), use_norm.dtype());
  scale = where(finite, scale, nan);
  std::vector<Output> clipped(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i]) continue;
    Scope beside = graph.colocate_with(tensors[i].op());
    Output product = tensors[i] * scale;
    clipped[i] = identity(product, fmt::format("{}_{}", scope.name(), i));
  }
  return {std::move(clipped), use_norm};
}

}  // namespace weir
