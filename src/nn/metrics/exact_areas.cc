#include <cmath>

#include "base/errors.h"
#include "nn/metrics/parts.h"
#include "nn/metrics/state.h"
#include "weir/control_flow.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

// Areas under curves of all predictions there were.
namespace weir::metrics {
namespace {

Output without_first(const Output& x) { return subscript(x, {from(1)}); }
Output without_last(const Output& x) { return subscript(x, {until(-1)}); }
Output after_zero(const Output& x) { return pad(x, x.graph().constant(Tensor::from<int32_t>({1, 0}, {1, 2}))); }

// Flat int64 labels that are checked to be 0 or 1.
Output truth_labels(const Output& given) {
  const Output labels = reshape(cast(given, int64), {-1});
  const Output inside = reduce_all(logical_and(greater_equal(labels, int64_t{0}), less_equal(labels, int64_t{1})));
  auto after = labels.graph().control_dependencies(
      {assert_true(inside, {In("labels must be 0 or 1, at least one is <0 or >1"), In(labels)})});
  return identity(labels);
}

// Predictions, labels and weights of all batches; the updates put a batch behind them.
struct Kept {
  Output predictions, labels, weights;
  std::vector<Operation> updates;
};
Kept kept(const Output& predictions, const Output& labels, const Output& weights) {
  Kept all;
  auto add = [&](const Output& x, std::string_view scope) {
    const Metric metric = concat_part(x, {}, scope);
    all.updates.push_back(metric.update.op());
    return metric.value;
  };
  all.predictions = add(predictions, "concat_preds");
  all.labels = add(labels, "concat_labels");
  all.weights = add(weights, "concat_weights");
  return all;
}

Output exact_area(const Output& labels, const Output& predictions, const Output& weights, bool roc) {
  const Output positive = cast(labels, float64) * weights;
  const Output total = reduce_sum(weights), total_positive = reduce_sum(positive);
  auto area = [&] {
    const nn::TopK best = nn::top_k(predictions, size(predictions));
    // Equal predictions are one step of the curve.
    const Output splits = after_zero(cumsum(unique_with_counts(best.values).count));
    auto at_splits = [&](const Output& hits) { return gather(after_zero(cumsum(gather(hits, best.indices))), splits); };
    const Output hit = at_splits(positive);
    Output x, y;
    if (roc) {
      x = at_splits(weights - positive) / (total - total_positive);
      y = hit / total_positive;
    } else {
      x = hit / total_positive;
      y = where(greater(splits, 0), div_no_nan(hit, at_splits(weights)), ones_like(hit));
    }
    const Output heights = (without_first(y) + without_last(y)) / 2.0;
    return reduce_sum(heights * abs(without_first(x) - without_last(x)));
  };
  const Output one_kind = logical_or(equal(total_positive, 0.0), equal(total_positive, total));
  return cond(
      one_kind, [&] { return labels.graph().constant(Tensor(0.0)); }, area);
}

// Where the standard normal distribution reaches p, by bisection.
double normal_quantile(double p) {
  double low = -10, high = 10;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * (1 + std::erf(middle / std::sqrt(2.0))) < p ? low : high) = middle;
  }
  return low;
}

// The area by the places of each kind among the other (DeLong et al., 1988), and its bounds.
std::vector<Output> placement_area(const Output& all_labels, const Output& predictions, const Output& all_weights,
                                   const ConfidenceOptions& options) {
  constexpr float kEpsilon = 1e-7f;
  const Output order = reverse(nn::top_k(predictions, size(predictions)).indices, {0});
  const Output truth = gather(cast(all_labels, all_weights.dtype()), order), weights = gather(all_weights, order);
  const Output segments = unique(gather(predictions, order)).idx;
  // How many of the others lie below each prediction; half of those that are equal.
  auto placements = [&](const Output& others) {
    const Output sums = segment_sum(others, segments);
    const Output below = cumsum(sums, 0, {.exclusive = true}) + sums / 2.f;
    return gather(below / (reduce_sum(sums) + kEpsilon), segments);
  };
  const Output of_true = weights * truth, of_false = weights * (1.f - truth);
  const Output total_0 = reduce_sum(of_false), total_1 = reduce_sum(of_true);
  const Output place = placements(of_false) * truth + placements(of_true) * (1.f - truth);
  const Output auc_0 = reduce_sum(of_false * (1.f - place)) / (total_0 + kEpsilon);
  const Output auc_1 = reduce_sum(of_true * place) / (total_1 + kEpsilon);
  const Output auc = where(less(total_0, total_1), auc_1, auc_0);
  const Output var_0 = reduce_sum(of_false * square(1.f - place - auc_0)) / (total_0 - 1.f + kEpsilon);
  const Output var_1 = reduce_sum(of_true * square(place - auc_1)) / (total_1 - 1.f + kEpsilon);
  const Output error = sqrt(var_0 / (total_0 + kEpsilon) + var_1 / (total_1 + kEpsilon));
  const auto z = static_cast<float>(normal_quantile((1.0 - options.alpha) / 2.0));
  Output lower, upper;
  if (options.logit_transformation) {
    const Output estimate = log(auc / (1.f - auc + kEpsilon));
    const Output spread = error / (auc * (1.f - auc + kEpsilon));
    auto bound = [&](float sign) { return 1.f / (1.f + exp(-(estimate + sign * z * spread)) + kEpsilon); };
    lower = bound(1);
    upper = bound(-1);
  } else {
    lower = auc + z * error;
    upper = auc - z * error;
  }
  const Output exact = logical_or(equal(auc, 1.f), equal(auc, 0.f));
  return {auc, where(exact, auc, lower), where(exact, auc, upper)};
}

Output flat_weights(const Output& given, const Output& like, DType dtype) {
  return given ? reshape(cast(given, dtype), {-1}) : ones_like(like);
}

}  // namespace

Metric concat_part(const Output& values, const ConcatOptions& options, std::string_view scope_name) {
  Graph& graph = values.graph();
  auto scope = graph.variable_scope(name_or(scope_name, "streaming_concat"), {.unique = scope_name.empty()});
  if (!values.shape().has_rank()) throw invalid_argument("`values` must have known statically known rank");
  const int rank = values.shape().rank();
  if (options.axis < -rank || options.axis >= rank) {
    throw invalid_argument("axis = {} not in [0, {})", options.axis, rank);
  }
  const int axis = options.axis < 0 ? options.axis + rank : options.axis;
  Shape empty{0}, some{kUnknown};
  std::vector<int32_t> to_front = {axis}, back;
  for (int i = 0; i < rank; ++i) {
    back.push_back(i == axis ? 0 : i < axis ? i + 1 : i);
    if (i == axis) continue;
    to_front.push_back(i);
    if (values.shape()[i] == kUnknown) {
      throw invalid_argument(
          "all dimensions of `values` other than the dimension to concatenate along must have statically known size");
    }
    empty.append(values.shape()[i]);
    some.append(values.shape()[i]);
  }
  const Variable array = metric_variable(graph, empty, values.dtype(), "array", false);
  Output kept = identity(array);
  kept.set_shape(some);
  Output batch = transpose(values, graph.constant(Tensor(to_front)));
  if (options.max_size) {
    const Output left = maximum(static_cast<int32_t>(*options.max_size) - subscript(shape(kept), {0}), 0);
    batch = gather(batch, range(0, minimum(left, subscript(shape(batch), {0})), 1));
  }
  const Output update = assign(array, concat({kept, batch}, 0), {.validate_shape = false});
  return {transpose(kept, graph.constant(Tensor(back)), "concat"), subscript(shape(update), {0})};
}

OperationMetric exact_area_part(const Output& labels, const Output& predictions, const Output& weights, bool roc) {
  const Output flat = reshape(cast(predictions, float64), {-1});
  const Output own_weights = flat_weights(weights, flat, float64);
  const Kept all = kept(flat, truth_labels(labels), own_weights);
  const Output area = exact_area(all.labels, all.predictions, all.weights, roc);
  return {area, labels.graph().group(all.updates)};
}

AreaWithBounds bounded_area_part(const Output& labels, const Output& predictions, const Output& weights,
                                 const ConfidenceOptions& options) {
  Graph& graph = labels.graph();
  const Output own_weights = flat_weights(weights, reshape(predictions, {-1}), predictions.dtype());
  const Output total = reduce_sum(own_weights), truth = truth_labels(labels);
  const Kept all = kept(reshape(cast(predictions, float64), {-1}), truth, own_weights);
  const Output enough = greater_equal(total, 1.f);
  const Output both = logical_and(equal(reduce_min(truth), int64_t{0}), equal(reduce_max(truth), int64_t{1}));
  const Operation update = cond(
      enough, [&] { return graph.group(all.updates); }, [&] { return graph.group({}); });
  const std::vector<Output> area = cond(
      logical_and(both, enough), [&] { return placement_area(all.labels, all.predictions, all.weights, options); },
      [&] {
        const Output nothing = cast(graph.constant(Tensor(0.f)), all.weights.dtype());
        return std::vector<Output>{nothing, identity(nothing), identity(nothing)};
      });
  return {area[0], area[1], area[2], update};
}

Output histogram_bins(const Output& scores, const Output& low, const Output& high, int64_t nbins) {
  const auto count = static_cast<int32_t>(nbins);
  const Output share = (scores - cast(low, scores.dtype())) / (cast(high, scores.dtype()) - cast(low, scores.dtype()));
  const Output bins = cast(floor(share * cast(scores.graph().constant(Tensor(count)), scores.dtype())), int32);
  return reshape(minimum(maximum(bins, 0), count - 1), {-1});
}

Output histogram_area(const Output& positives, const Output& negatives) {
  auto falling = [](const Output& counts) {
    return cast(reverse(cast(counts, float64) / cast(reduce_sum(counts), float64), {0}), float32);
  };
  const Output height = cumsum(falling(positives)), width = falling(negatives);
  const Output first = subscript(width, {0}) * subscript(height, {0}) / 2.f;
  const Output rest = without_first(width) * (without_first(height) + without_last(height)) / 2.f;
  return add(first, reduce_sum(rest), "auc");
}

namespace {

VariableScope scope_of(const Output& x, std::string_view name, std::string_view usual) {
  return x.graph().variable_scope(name_or(name, usual), {.unique = name.empty()});
}

void collect(const std::vector<Output>& values, const Operation& update, const MetricOptions& options) {
  Graph& graph = update.graph();
  for (const Output& value : values) {
    for (const std::string& name : options.metrics_collections) graph.add_to_collection(name, value);
  }
  for (const std::string& name : options.updates_collections) graph.add_to_collection(name, update);
}

}  // namespace

Metric streaming_concat(const Output& values, const ConcatOptions& concat, const MetricOptions& options) {
  const Metric metric = concat_part(values, concat, options.name);
  return collected(metric.value, metric.update, options);
}

OperationMetric streaming_dynamic_auc(const Output& labels, const Output& predictions, const std::string& curve,
                                      const MetricOptions& options) {
  if (curve != "PR" && curve != "ROC") throw invalid_argument("curve must be either ROC or PR, {} unknown", curve);
  auto scope = scope_of(labels, options.name, "dynamic_auc");
  const Aligned a = aligned(labels, predictions, options.weights);
  const OperationMetric metric = exact_area_part(a.labels, a.predictions, a.weights, curve == "ROC");
  collect({metric.value}, metric.update, options);
  return metric;
}

AreaWithBounds auc_with_confidence_intervals(const Output& labels, const Output& predictions,
                                             const ConfidenceOptions& confidence, const MetricOptions& options) {
  if (!(confidence.alpha > 0 && confidence.alpha < 1)) {
    throw invalid_argument("alpha must be between 0 and 1; currently {:.2f}", confidence.alpha);
  }
  auto scope = scope_of(labels, options.name, "auc_with_confidence_intervals");
  const Aligned a = aligned(labels, predictions, options.weights);
  const AreaWithBounds area = bounded_area_part(a.labels, a.predictions, a.weights, confidence);
  collect({area.auc, area.lower, area.upper}, area.update, options);
  return area;
}

OperationMetric auc_using_histogram(const Output& boolean_labels, const Output& scores, const In& low, const In& high,
                                    const HistogramAucOptions& options) {
  Graph& graph = scores.graph();
  if (boolean_labels.dtype() != boolean) {
    throw invalid_argument("Argument boolean_labels should have dtype bool.  Found: {}",
                           dtype_name(boolean_labels.dtype()));
  }
  if (options.nbins < 2) throw invalid_argument("nbins must be at least 2; it is {}", options.nbins);
  auto scope = scope_of(scores, options.name, "auc_using_histogram");
  const Output bins = histogram_bins(scores, as_number(graph, low, scores.dtype()),
                                     as_number(graph, high, scores.dtype()), options.nbins);
  std::vector<Operation> updates;
  auto counted = [&](const std::string& kind, const Output& chosen) {
    const Variable variable = graph.get_variable("hist_accumulate/hist_" + kind + "_acc", {options.nbins},
                                                 {.initializer = zeros_initializer(),
                                                  .dtype = int64,
                                                  .trainable = false,
                                                  .collections = {"local_variables", "metric_variables"}});
    const Output hits = unsorted_segment_sum(cast(reshape(chosen, {-1}), int64), bins, In(options.nbins));
    updates.push_back(assign_add(variable, hits).op());
    return variable;
  };
  const Variable positives = counted("true", boolean_labels);
  const Variable negatives = counted("false", logical_not(boolean_labels));
  return {histogram_area(positives, negatives), graph.group(updates, "update_op")};
}

}  // namespace weir::metrics
