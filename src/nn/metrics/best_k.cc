#include <limits>

#include "base/errors.h"
#include "nn/metrics/state.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

// How good the best k predictions are.
namespace weir::metrics {
namespace {

constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();  // no class
enum class Count { TruePositive, FalsePositive, FalseNegative };
constexpr const char* kCountNames[] = {"true_positive", "false_positive", "false_negative"};

std::string name_at_k(const std::string& name, std::optional<int> k, std::optional<int64_t> class_id) {
  const std::string at = name + "_at_" + (k ? std::to_string(*k) : "k");
  return class_id ? at + "_class" + std::to_string(*class_id) : at;
}

// Labels [..., n], where every row may have one label without that dimension.
Output rows(const Output& labels, const Output& best) {
  const Output ids = cast(labels, int64);
  return best.shape().rank() - ids.shape().rank() == 1 ? expand_dims(ids, -1) : ids;
}

Output nothings(const Output& ids) { return zeros_like(ids) + kNothing; }

Output selected(const Output& ids, std::optional<int64_t> class_id) {
  return class_id ? where(equal(ids, *class_id), ids, nothings(ids)) : ids;
}

// Where an id is one, and the first of its kind in its row.
Output firsts(const Output& ids) {
  const Output places = range(0, subscript(shape(ids), {-1}), 1);
  const Output earlier = less(expand_dims(places, 0), expand_dims(places, 1));
  const Output same = equal(expand_dims(ids, -1), expand_dims(ids, -2));
  const Output repeated = reduce_any(logical_and(same, earlier), {.axes = {-1}});
  return logical_and(not_equal(ids, kNothing), logical_not(repeated));
}

// Which predictions are among the labels, and which labels among the predictions.
std::pair<Output, Output> common(const Output& labels, const Output& best) {
  const Output same = equal(expand_dims(best, -1), expand_dims(labels, -2));
  return {reduce_any(same, {.axes = {-1}}), reduce_any(same, {.axes = {-2}})};
}

Metric streaming_count(Count which, const Output& labels, const Output& best, std::optional<int> k,
                       std::optional<int64_t> class_id, const std::optional<In>& weights) {
  Graph& graph = best.graph();
  Scope scope = graph.name_scope(name_at_k(kCountNames[static_cast<size_t>(which)], k, class_id));
  const Output right = selected(labels, class_id), chosen = selected(best, class_id);
  const auto [found, hit] = common(right, chosen);
  const Output holds = which == Count::FalseNegative
                           ? logical_and(firsts(right), logical_not(hit))
                           : logical_and(firsts(chosen), which == Count::TruePositive ? found : logical_not(found));
  Output counts = reduce_sum(cast(holds, float64), {.axes = {-1}});
  if (weights) counts = counts * stretched_weights(counts, *weights, float64);
  const Variable total = metric_variable(graph, {}, float64, scope.name());
  return {total, assign_add(total, reduce_sum(counts), "update")};
}

Metric ratio_at_top_k(const std::string& usual, Count wrong, const Output& labels, const Output& predictions_idx,
                      std::optional<int> k, std::optional<int64_t> class_id, const MetricOptions& options) {
  Graph& graph = predictions_idx.graph();
  Scope scope = graph.name_scope(options.name.empty() ? name_at_k(usual, k, class_id) : std::string(options.name));
  const Output best = cast(predictions_idx, int64), right = rows(labels, best);
  const Metric hits = streaming_count(Count::TruePositive, right, best, k, class_id, options.weights);
  const Metric misses = streaming_count(wrong, right, best, k, class_id, options.weights);
  const Output value = divide(hits.value, hits.value + misses.value, usual);
  return collected(value, divide(hits.update, hits.update + misses.update, "update"), options);
}

Metric ratio_at_k(const std::string& usual, Count wrong, const Output& labels, const Output& predictions, int k,
                  std::optional<int64_t> class_id, const MetricOptions& options) {
  if (k < 1) throw invalid_argument("Invalid k={}.", k);
  return ratio_at_top_k(usual, wrong, labels, nn::top_k(predictions, k).indices, k, class_id, options);
}

}  // namespace

Metric precision_at_k(const Output& labels, const Output& predictions, int k, std::optional<int64_t> class_id,
                      const MetricOptions& options) {
  return ratio_at_k("precision", Count::FalsePositive, labels, predictions, k, class_id, options);
}
Metric recall_at_k(const Output& labels, const Output& predictions, int k, std::optional<int64_t> class_id,
                   const MetricOptions& options) {
  return ratio_at_k("recall", Count::FalseNegative, labels, predictions, k, class_id, options);
}
Metric precision_at_top_k(const Output& labels, const Output& predictions_idx, std::optional<int64_t> class_id,
                          const MetricOptions& options) {
  return ratio_at_top_k("precision", Count::FalsePositive, labels, predictions_idx, {}, class_id, options);
}
Metric recall_at_top_k(const Output& labels, const Output& predictions_idx, std::optional<int64_t> class_id,
                       const MetricOptions& options) {
  return ratio_at_top_k("recall", Count::FalseNegative, labels, predictions_idx, {}, class_id, options);
}

Metric average_precision_at_k(const Output& labels, const Output& predictions, int k, const MetricOptions& options) {
  if (k < 1) throw invalid_argument("Invalid k={}.", k);
  Graph& graph = predictions.graph();
  Scope scope =
      graph.name_scope(options.name.empty() ? name_at_k("average_precision", k, {}) : std::string(options.name));
  const Output best = cast(nn::top_k(predictions, k).indices, int64);
  Output right = rows(labels, best);
  const Output classes = cast(subscript(shape(predictions), {-1}), int64);
  const Output relevant = reduce_sum(cast(greater_equal(right, int64_t{0}), int64), {.axes = {-1}});
  right = where(logical_and(greater_equal(right, int64_t{0}), less(right, classes)), right, nothings(right));
  const Output found = cast(common(right, best).first, float64);
  const Output precisions = cumsum(found, -1) / cumsum(ones_like(found), -1);
  const Output most_of_row = minimum(relevant, cast(subscript(shape(best), {-1}), int64));
  Output average =
      divide(reduce_sum(precisions * found, {.axes = {-1}}), cast(most_of_row, float64), "average_precision");
  Output number = cast(size(average), float64);
  if (options.weights) {
    const Output weights = stretched_weights(average, *options.weights, float64);
    average = average * weights;
    number = reduce_sum(weights);
  }
  auto summed = [&](std::string_view name, const Output& x) {
    Scope inner = graph.name_scope(name);
    const Variable variable = metric_variable(graph, {}, float64, inner.name());
    return Metric{variable, assign_add(variable, x, "update")};
  };
  const Metric most = summed("max_1", number), total = summed("total", reduce_sum(average));
  const Output value = div_no_nan(total.value, most.value, "mean");
  return collected(value, div_no_nan(total.update, most.update, "update"), options);
}

}  // namespace weir::metrics
