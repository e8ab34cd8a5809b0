#include "base/errors.h"
#include "nn/metrics/parts.h"
#include "nn/metrics/state.h"
#include "weir/control_flow.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

// What follows from counts: rates of errors, the best threshold, curves; and how often classes agree.
namespace weir::metrics {
namespace {

constexpr float kEpsilon = 1e-7f;

VariableScope scope_of(Graph& graph, const MetricOptions& options, std::string_view usual) {
  return graph.variable_scope(name_or(options.name, usual), {.unique = options.name.empty()});
}

// The values of counts at thresholds, and what they are after the update.
struct Both {
  Counts values, updates;
};
Both all_counts(const Output& labels, const Output& predictions, int num_thresholds, const MetricOptions& options) {
  const Aligned a = aligned(labels, predictions, options.weights);
  const std::vector<Metric> c =
      counts_at_thresholds(a.labels, a.predictions, spread(num_thresholds), a.weights,
                           {Kind::TruePositives, Kind::FalseNegatives, Kind::TrueNegatives, Kind::FalsePositives});
  return {{c[0].value, c[1].value, c[2].value, c[3].value}, {c[0].update, c[1].update, c[2].update, c[3].update}};
}

void check_share(float share, const char* name) {
  if (!(share >= 0 && share <= 1)) throw invalid_argument("`{}` must be in the range [0, 1].", name);
}

// wrong / (wrong + right), both counts of truth values.
Metric rate(const Metric& wrong, const Metric& right, const MetricOptions& options) {
  const Output value = div_no_nan(wrong.value, wrong.value + right.value, "value");
  return collected(value, div_no_nan(wrong.update, wrong.update + right.update, "update_op"), options);
}

Metric rate_at_thresholds(const Output& predictions, const Output& labels, const std::vector<float>& thresholds,
                          const MetricOptions& options, Kind wrong, Kind right, const std::string& node) {
  const Aligned a = aligned(labels, predictions, options.weights);
  const std::vector<Metric> counts =
      counts_at_thresholds(a.labels, a.predictions, thresholds, a.weights, {wrong, right});
  auto share = [&](const Output& missed, const Output& hit, const char* end) {
    return divide(missed, kEpsilon + missed + hit, node + end);
  };
  const Output value = share(counts[0].value, counts[1].value, "_value");
  return collected(value, share(counts[0].update, counts[1].update, "_update_op"), options);
}

}  // namespace

Output curve_points_of(const Counts& c, bool roc) {
  constexpr float kSmall = 1e-6f;
  const Output hit_rate = (c.tp + kSmall) / (c.tp + c.fn + kSmall);
  if (roc) return stack({c.fp / (c.fp + c.tn + kSmall), hit_rate}, 1);
  return stack({hit_rate, (c.tp + kSmall) / (c.tp + c.fp + kSmall)}, 1);
}

Output f1_of(const Counts& c, const std::string& node) {
  const Output precision = divide(c.tp, kEpsilon + c.tp + c.fp, "precision_" + node);
  const Output recall = divide(c.tp, kEpsilon + c.tp + c.fn, "recall_" + node);
  return reduce_max(2.f * precision * recall / (precision + recall + kEpsilon));
}

Output recall_near_precision(const Counts& c, float precision, bool strict, std::string_view node) {
  const Output precisions = divide(c.tp, c.tp + c.fp + kEpsilon);
  const Output nearest = strict ? argmax(1.f / (precisions - precision + kEpsilon), 0, int32)
                                : argmin(abs(precisions - precision), 0, int32);
  auto there = [&] {
    const Output hit = gather(c.tp, nearest);
    return divide(hit, hit + gather(c.fn, nearest) + kEpsilon, node);
  };
  if (!strict) return there();
  return cond(greater_equal(gather(precisions, nearest), precision), there,
              [&] { return c.tp.graph().constant(Tensor(0.f)); });
}

Output precision_near_recall(const Counts& c, float target_recall, std::string_view node) {
  const Output enough = greater_equal(divide(c.tp, c.tp + c.fn + kEpsilon), target_recall);
  const Output last = reduce_sum(cast(enough, int64)) - int64_t{1};
  const Output hit = gather(c.tp, last);
  return divide(hit + kEpsilon, hit + gather(c.fp, last) + kEpsilon, node);
}

Metric count_part(const Output& values, const Output& weights) {
  Graph& graph = values.graph();
  const Variable total = metric_variable(graph, {}, float32, "count");
  const Output number = weights ? reduce_sum(cast(weights, float32)) : cast(size(values), float32);
  const Output value = identity(total);
  auto after = graph.control_dependencies({values.op()});
  return {value, assign_add(total, number)};
}

Metric kappa_part(const Output& labels, const Output& predictions, int64_t num_classes, const Output& weights) {
  Graph& graph = labels.graph();
  const DType type = !weights || is_integer(weights.dtype()) ? int64 : float32;
  ConfusionMatrixOptions options{.num_classes = In(num_classes), .dtype = type};
  if (weights) options.weights = In(cast(weights, type));
  const Output table = confusion_matrix(cast(labels, int64), cast(predictions, int64), options, "counts_in_table");
  struct Sums {
    Output agreeing, rows, columns;
  };
  const Sums batch{NodeBuilder("DiagPart").input(table).output(), reduce_sum(table, {0}), reduce_sum(table, {1})};
  auto variable = [&](std::string_view name) { return metric_variable(graph, {num_classes}, type, name); };
  const Variable agreeing = variable("po"), rows = variable("pe_row"), columns = variable("pe_col");
  const Sums updates{assign_add(agreeing, batch.agreeing), assign_add(rows, batch.rows),
                     assign_add(columns, batch.columns)};
  auto kappa = [&](const Sums& sums, std::string_view node) {
    const Output total = cast(reduce_sum(sums.rows), float64), agree = cast(reduce_sum(sums.agreeing), float64);
    const Output chance = reduce_sum(div_no_nan(cast(sums.rows * sums.columns, float64), total));
    return div_no_nan(agree - chance, total - chance, node);
  };
  const Output value = kappa({agreeing, rows, columns}, "value");
  return {value, kappa(updates, "update_op")};
}

PrecisionRecallData equal_thresholds_part(const Output& labels, const Output& given, const Output& given_weights,
                                          int64_t num_thresholds, std::optional<bool> use_locking) {
  Graph& graph = labels.graph();
  const Output inside = reduce_all(logical_and(greater_equal(given, cast(graph.constant(Tensor(0.f)), given.dtype())),
                                               less_equal(given, cast(graph.constant(Tensor(1.f)), given.dtype()))));
  Output predictions;
  {
    auto after = graph.control_dependencies({assert_true(inside, {In("predictions must be in [0, 1]"), In(given)})});
    predictions = identity(given);
  }
  const Output truth = cast(labels, float64);
  const Output weights = given_weights ? cast(given_weights, float64) : ones_like(truth);
  const Output last = cast(graph.constant(Tensor(static_cast<float>(num_thresholds - 1))), given.dtype());
  const Output buckets = cast(floor(reshape(predictions, {-1}) * last), int32);
  Variable tp_buckets, fp_buckets;
  {
    Scope scope = graph.name_scope("variables");
    tp_buckets = metric_variable(graph, {num_thresholds}, float64, "tp_buckets");
    fp_buckets = metric_variable(graph, {num_thresholds}, float64, "fp_buckets");
  }
  std::vector<Operation> updates;
  {
    Scope scope = graph.name_scope("update_op");
    const UpdateOptions locking{.use_locking = use_locking.value_or(true)};
    const Output hits = reshape(truth * weights, {-1}), misses = reshape((1.0 - truth) * weights, {-1});
    updates.push_back(scatter_add(tp_buckets, buckets, hits, {}, locking).op());
    updates.push_back(scatter_add(fp_buckets, buckets, misses, {}, locking).op());
  }
  auto falling = [](const Output& x, std::string_view name) { return cumsum(x, 0, {.reverse = true}, name); };
  const Output tp = falling(tp_buckets, "tp"), fp = falling(fp_buckets, "fp");
  const Output tn = subscript(fp, {0}) - fp, fn = subscript(tp, {0}) - tp;
  auto as_given = [&](const Output& x) { return cast(x, given.dtype()); };
  PrecisionRecallData data;
  data.tp = as_given(tp);
  data.fp = as_given(fp);
  data.tn = as_given(tn);
  data.fn = as_given(fn);
  data.precision = as_given(tp / maximum(tp + fp, 1e-7));
  data.recall = as_given(tp / maximum(tp + fn, 1e-7));
  data.thresholds = as_given(
      linspace(graph.constant(Tensor(0.f)), 1.f, graph.constant(Tensor(static_cast<int32_t>(num_thresholds)))));
  data.update = graph.group(updates);
  return data;
}

Metric count(const Output& values, const MetricOptions& options) {
  auto scope = scope_of(values.graph(), options, "count");
  const Output weights = aligned(values, values, options.weights).weights;
  const Metric metric = count_part(values, weights);
  return collected(metric.value, metric.update, options);
}

Metric cohen_kappa(const Output& labels, const Output& predictions_idx, int64_t num_classes,
                   const MetricOptions& options) {
  if (num_classes < 2) throw invalid_argument("`num_classes` must be >= 2.Found: {}", num_classes);
  auto scope = scope_of(labels.graph(), options, "cohen_kappa");
  const bool column = labels.shape().has_rank() && labels.shape().rank() == 2;
  const Aligned a = aligned(column ? squeeze(labels, {-1}) : labels, predictions_idx, options.weights);
  const Metric metric = kappa_part(a.labels, a.predictions, num_classes, a.weights);
  return collected(metric.value, metric.update, options);
}

Metric streaming_false_positive_rate(const Output& predictions, const Output& labels, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "false_positive_rate");
  const MetricOptions own{.weights = options.weights};
  const Metric wrong = false_positives(labels, predictions, own);
  return rate(wrong, true_negatives(labels, predictions, own), options);
}

Metric streaming_false_negative_rate(const Output& predictions, const Output& labels, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "false_negative_rate");
  const MetricOptions own{.weights = options.weights};
  const Metric wrong = false_negatives(labels, predictions, own);
  return rate(wrong, true_positives(labels, predictions, own), options);
}

Metric streaming_false_positive_rate_at_thresholds(const Output& predictions, const Output& labels,
                                                   const std::vector<float>& thresholds, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "false_positive_rate_at_thresholds");
  return rate_at_thresholds(predictions, labels, thresholds, options, Kind::FalsePositives, Kind::TrueNegatives, "fpr");
}

Metric streaming_false_negative_rate_at_thresholds(const Output& predictions, const Output& labels,
                                                   const std::vector<float>& thresholds, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "false_negative_rate_at_thresholds");
  return rate_at_thresholds(predictions, labels, thresholds, options, Kind::FalseNegatives, Kind::TruePositives, "fnr");
}

OperationMetric streaming_curve_points(const Output& labels, const Output& predictions, const AucOptions& curve,
                                       const MetricOptions& options) {
  const bool roc = curve.curve == "ROC";
  if (!roc && curve.curve != "PR") {
    throw invalid_argument("curve must be either ROC or PR, {} unknown", curve.curve);
  }
  Graph& graph = labels.graph();
  auto scope = scope_of(graph, options, "curve_points");
  const Both counts = all_counts(labels, predictions, curve.num_thresholds, options);
  const Counts& u = counts.updates;
  const OperationMetric metric{curve_points_of(counts.values, roc),
                               graph.group(std::vector<Operation>{u.tp.op(), u.fn.op(), u.tn.op(), u.fp.op()})};
  for (const std::string& name : options.metrics_collections) graph.add_to_collection(name, metric.value);
  for (const std::string& name : options.updates_collections) graph.add_to_collection(name, metric.update);
  return metric;
}

Metric f1_score(const Output& labels, const Output& predictions, int num_thresholds, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "f1");
  const Aligned a = aligned(labels, predictions, options.weights);
  const std::vector<Metric> c = counts_at_thresholds(a.labels, a.predictions, spread(num_thresholds), a.weights,
                                                     {Kind::TruePositives, Kind::FalseNegatives, Kind::FalsePositives});
  const Output value = f1_of({c[0].value, c[1].value, {}, c[2].value}, "value");
  return collected(value, f1_of({c[0].update, c[1].update, {}, c[2].update}, "update"), options);
}

Metric recall_at_precision(const Output& labels, const Output& predictions, float precision, int num_thresholds,
                           bool strict_mode, const MetricOptions& options) {
  check_share(precision, "precision");
  auto scope = scope_of(labels.graph(), options, "recall_at_precision");
  const Both counts = all_counts(labels, predictions, num_thresholds, options);
  const Output value = recall_near_precision(counts.values, precision, strict_mode, "value");
  return collected(value, recall_near_precision(counts.updates, precision, strict_mode, "update_op"), options);
}

Metric precision_at_recall(const Output& labels, const Output& predictions, float target_recall, int num_thresholds,
                           const MetricOptions& options) {
  check_share(target_recall, "target_recall");
  auto scope = scope_of(labels.graph(), options, "precision_at_recall");
  const Both counts = all_counts(labels, predictions, num_thresholds, options);
  const Output value = precision_near_recall(counts.values, target_recall, "value");
  return collected(value, precision_near_recall(counts.updates, target_recall, "update_op"), options);
}

PrecisionRecallData precision_recall_at_equal_thresholds(const Output& labels, const Output& predictions,
                                                         int64_t num_thresholds, const MetricOptions& options) {
  if (labels.dtype() != boolean) {
    throw invalid_argument("labels must be of type bool; they are {}", dtype_name(labels.dtype()));
  }
  if (num_thresholds < 2) throw invalid_argument("num_thresholds must be at least 2; it is {}", num_thresholds);
  auto scope = scope_of(labels.graph(), options, "precision_recall_at_equal_thresholds");
  const Aligned a = aligned(labels, predictions, options.weights);
  return equal_thresholds_part(a.labels, a.predictions, a.weights, num_thresholds, {});
}

}  // namespace weir::metrics
