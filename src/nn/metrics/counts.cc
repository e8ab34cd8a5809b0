#include <functional>

#include "base/errors.h"
#include "nn/metrics/parts.h"
#include "nn/metrics/state.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

// True and false positives and negatives, and what follows from them.
namespace weir::metrics {
namespace {

constexpr std::string_view kNames[] = {"true_positives", "false_positives", "true_negatives", "false_negatives"};

// In TensorFlow's order.
const std::vector<Kind> kAll = {Kind::TruePositives, Kind::FalseNegatives, Kind::TrueNegatives, Kind::FalsePositives};

Output holds(Kind kind, const Truth& truth) {
  switch (kind) {
    case Kind::TruePositives:
      return logical_and(truth.labels, truth.predictions);
    case Kind::FalsePositives:
      return logical_and(logical_not(truth.labels), truth.predictions);
    case Kind::TrueNegatives:
      return logical_not(logical_or(truth.labels, truth.predictions));
    case Kind::FalseNegatives:
      break;
  }
  return logical_and(truth.labels, logical_not(truth.predictions));
}

VariableScope scope_of(Graph& graph, const MetricOptions& options, std::string_view usual) {
  return graph.variable_scope(name_or(options.name, usual), {.unique = options.name.empty()});
}

Metric count(Kind kind, const Truth& truth, const MetricOptions& options) {
  Graph& graph = truth.labels.graph();
  auto scope = scope_of(graph, options, name_of(kind));
  const Variable total = metric_variable(graph, {}, float32, "count");
  Output hits = cast(holds(kind, truth), float32);
  if (options.weights) hits = hits * stretched_weights(hits, *options.weights, float32);
  return collected(identity(total), assign_add(total, reduce_sum(hits)), options);
}

// true positives / (true positives + wrong ones)
Metric ratio(Kind wrong, const Output& labels, const Output& predictions, const MetricOptions& options,
             std::string_view usual) {
  auto scope = scope_of(labels.graph(), options, usual);
  const Truth truth = truth_of(labels, predictions);
  const MetricOptions own{.weights = options.weights};
  const Metric hit = count(Kind::TruePositives, truth, own), missed = count(wrong, truth, own);
  const Output value = div_no_nan(hit.value, hit.value + missed.value, "value");
  return collected(value, div_no_nan(hit.update, hit.update + missed.update, "update_op"), options);
}

// Those of labels and predictions as the program gives them.
std::vector<Metric> at_thresholds(const Output& labels, const Output& predictions, const std::vector<float>& thresholds,
                                  const MetricOptions& options, const std::vector<Kind>& wanted) {
  const Aligned a = aligned(labels, predictions, options.weights);
  return counts_at_thresholds(a.labels, a.predictions, thresholds, a.weights, wanted);
}

Metric ratio_at_thresholds(Kind wrong, const Output& labels, const Output& predictions,
                           const std::vector<float>& thresholds, const MetricOptions& options,
                           const std::string& usual) {
  auto scope = scope_of(labels.graph(), options, usual + "_at_thresholds");
  const std::vector<Metric> counts =
      at_thresholds(labels, predictions, thresholds, options, {Kind::TruePositives, wrong});
  const Metric &hit = counts[0], &missed = counts[1];
  auto share = [&](const Output& right, const Output& rest, const char* node) {
    return divide(right, 1e-7f + right + rest, usual + node);
  };
  const Output value = share(hit.value, missed.value, "_value");
  return collected(value, share(hit.update, missed.update, "_update_op"), options);
}

Metric count_at_thresholds(Kind kind, const Output& labels, const Output& predictions,
                           const std::vector<float>& thresholds, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, name_of(kind));
  const Metric counts = at_thresholds(labels, predictions, thresholds, options, {kind})[0];
  return collected(identity(counts.value), counts.update, options);
}

// right / (right + wrong) at a threshold that `place` finds in shares of `found` among `found` and `lost`.
Metric rate_at_rate(const Output& labels, const Output& predictions, int num_thresholds, const MetricOptions& options,
                    std::string_view usual, bool of_positives,
                    const std::function<Output(const Output& shares)>& place) {
  constexpr float kEpsilon = 1e-7f;
  auto scope = scope_of(labels.graph(), options, usual);
  const std::vector<Metric> counts = at_thresholds(labels, predictions, spread(num_thresholds), options, kAll);
  const Metric &tp = counts[0], &fn = counts[1], &tn = counts[2], &fp = counts[3];
  const Metric &right = of_positives ? tp : tn, &wrong = of_positives ? fn : fp;
  const Metric &found = of_positives ? tn : tp, &lost = of_positives ? fp : fn;
  auto rate = [&](auto which, const char* node) {
    const Output index = cast(place(which(found) / (which(found) + which(lost) + kEpsilon)), int32);
    const Output hit = gather(which(right), index), missed = gather(which(wrong), index);
    return divide(hit, hit + missed + kEpsilon, node);
  };
  const Output value = rate([](const Metric& m) { return m.value; }, "value");
  return collected(value, rate([](const Metric& m) { return m.update; }, "update_op"), options);
}

}  // namespace

std::string_view name_of(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

std::vector<Metric> counts_at_thresholds(const Output& labels, const Output& predictions,
                                         const std::vector<float>& thresholds, const Output& weights,
                                         const std::vector<Kind>& wanted) {
  Graph& graph = labels.graph();
  Truth truth;
  Output flat_weights;
  {
    const Output given = cast(predictions, float32);
    const Output inside = reduce_all(logical_and(greater_equal(given, 0.f), less_equal(given, 1.f)));
    auto after =
        graph.control_dependencies({assert_true(inside, {In("predictions must be in [0, 1]"), In(predictions)})});
    const Output limits = expand_dims(graph.constant(Tensor(thresholds)), 1);
    truth.predictions = greater(reshape(given, {1, -1}), limits);
    truth.labels = logical_and(reshape(cast(labels, boolean), {1, -1}), ones_like(truth.predictions));
    if (weights) flat_weights = reshape(cast(weights, float32), {1, -1});
  }
  std::vector<Metric> counts;
  for (Kind kind : wanted) {
    const Variable total = metric_variable(graph, {static_cast<int64_t>(thresholds.size())}, float32, name_of(kind));
    Output hits = cast(holds(kind, truth), float32);
    if (flat_weights) hits = hits * flat_weights;
    counts.push_back({total, assign_add(total, reduce_sum(hits, {1}))});
  }
  return counts;
}

// From just below zero to just above one.
std::vector<float> spread(int count) {
  if (count < 2) throw invalid_argument("num_thresholds must be at least 2");
  std::vector<float> thresholds{-1e-7f};
  for (int i = 1; i + 1 < count; ++i) {
    thresholds.push_back(static_cast<float>(i / static_cast<double>(count - 1)));
  }
  thresholds.push_back(1 + 1e-7f);
  return thresholds;
}

Metric true_positives_at_thresholds(const Output& labels, const Output& predictions,
                                    const std::vector<float>& thresholds, const MetricOptions& options) {
  return count_at_thresholds(Kind::TruePositives, labels, predictions, thresholds, options);
}
Metric false_positives_at_thresholds(const Output& labels, const Output& predictions,
                                     const std::vector<float>& thresholds, const MetricOptions& options) {
  return count_at_thresholds(Kind::FalsePositives, labels, predictions, thresholds, options);
}
Metric true_negatives_at_thresholds(const Output& labels, const Output& predictions,
                                    const std::vector<float>& thresholds, const MetricOptions& options) {
  return count_at_thresholds(Kind::TrueNegatives, labels, predictions, thresholds, options);
}
Metric false_negatives_at_thresholds(const Output& labels, const Output& predictions,
                                     const std::vector<float>& thresholds, const MetricOptions& options) {
  return count_at_thresholds(Kind::FalseNegatives, labels, predictions, thresholds, options);
}

Metric sensitivity_at_specificity(const Output& labels, const Output& predictions, float specificity,
                                  int num_thresholds, const MetricOptions& options) {
  if (!(specificity >= 0 && specificity <= 1)) {
    throw invalid_argument("`specificity` must be in the range [0, 1].");
  }
  return rate_at_rate(labels, predictions, num_thresholds, options, "sensitivity_at_specificity", true,
                      [&](const Output& shares) { return argmin(abs(shares - specificity), 0); });
}

Metric specificity_at_sensitivity(const Output& labels, const Output& predictions, float sensitivity,
                                  int num_thresholds, const MetricOptions& options) {
  if (!(sensitivity >= 0 && sensitivity <= 1)) {
    throw invalid_argument("`sensitivity` must be in the range [0, 1].");
  }
  return rate_at_rate(labels, predictions, num_thresholds, options, "specificity_at_sensitivity", false,
                      [&](const Output& shares) {
                        const Output distance = abs(shares - sensitivity);
                        // The last of the nearest thresholds.
                        const Output nearest = cast(equal(distance, reduce_min(distance)), int64);
                        return argmax(cumsum(nearest, 0), 0);
                      });
}

Metric true_positives(const Output& labels, const Output& predictions, const MetricOptions& options) {
  return count(Kind::TruePositives, truth_of(labels, predictions), options);
}
Metric false_positives(const Output& labels, const Output& predictions, const MetricOptions& options) {
  return count(Kind::FalsePositives, truth_of(labels, predictions), options);
}
Metric true_negatives(const Output& labels, const Output& predictions, const MetricOptions& options) {
  return count(Kind::TrueNegatives, truth_of(labels, predictions), options);
}
Metric false_negatives(const Output& labels, const Output& predictions, const MetricOptions& options) {
  return count(Kind::FalseNegatives, truth_of(labels, predictions), options);
}

Metric precision(const Output& labels, const Output& predictions, const MetricOptions& options) {
  return ratio(Kind::FalsePositives, labels, predictions, options, "precision");
}
Metric recall(const Output& labels, const Output& predictions, const MetricOptions& options) {
  return ratio(Kind::FalseNegatives, labels, predictions, options, "recall");
}

Metric precision_at_thresholds(const Output& labels, const Output& predictions, const std::vector<float>& thresholds,
                               const MetricOptions& options) {
  return ratio_at_thresholds(Kind::FalsePositives, labels, predictions, thresholds, options, "precision");
}
Metric recall_at_thresholds(const Output& labels, const Output& predictions, const std::vector<float>& thresholds,
                            const MetricOptions& options) {
  return ratio_at_thresholds(Kind::FalseNegatives, labels, predictions, thresholds, options, "recall");
}

Metric auc(const Output& labels, const Output& predictions, const AucOptions& auc_options,
           const MetricOptions& options) {
  const bool roc = auc_options.curve == "ROC";
  if (!roc && auc_options.curve != "PR") {
    throw invalid_argument("curve must be either ROC or PR, {} unknown", auc_options.curve);
  }
  auto scope = scope_of(labels.graph(), options, "auc");
  const std::vector<Metric> counts =
      at_thresholds(labels, predictions, spread(auc_options.num_thresholds), options, kAll);
  const Metric &tp = counts[0], &fn = counts[1], &tn = counts[2], &fp = counts[3];
  auto area = [&](const Output& hit, const Output& lost, const Output& free, const Output& wrong, const char* node) {
    constexpr float kEpsilon = 1e-6f;
    const Output hit_rate = (hit + kEpsilon) / (hit + lost + kEpsilon);
    const Output x = roc ? wrong / (wrong + free + kEpsilon) : hit_rate;
    const Output y = roc ? hit_rate : (hit + kEpsilon) / (hit + wrong + kEpsilon);
    auto left = [](const Output& v) { return subscript(v, {until(-1)}); };
    auto right = [](const Output& v) { return subscript(v, {from(1)}); };
    return reduce_sum((left(x) - right(x)) * ((left(y) + right(y)) / 2.f), {}, node);
  };
  const Output value = area(tp.value, fn.value, tn.value, fp.value, "value");
  return collected(value, area(tp.update, fn.update, tn.update, fp.update, "update_op"), options);
}

namespace {

// A table of classes: row the label, column the prediction.
Metric class_table(const Output& labels, const Output& predictions, int64_t num_classes, const MetricOptions& options) {
  Graph& graph = labels.graph();
  const Variable total = metric_variable(graph, {num_classes, num_classes}, float64, "total_confusion_matrix");
  ConfusionMatrixOptions table{.num_classes = In(num_classes), .dtype = float64};
  const Output flat_labels = reshape(cast(labels, int64), {-1});
  if (options.weights) {
    table.weights = In(reshape(stretched_weights(cast(labels, float32), *options.weights, float64), {-1}));
  }
  const Output now = confusion_matrix(flat_labels, reshape(cast(predictions, int64), {-1}), table);
  return {total, assign_add(total, now)};
}

// The mean of right / all over the classes that there were.
Output class_mean(const Output& right, const Output& all, std::string_view name) {
  const Output known = cast(greater(all, zeros_like(all)), float32);
  const Output shares = div_no_nan(cast(right, float32), cast(all, float32));
  return div_no_nan(reduce_sum(shares), reduce_sum(known), name);
}

Output diagonal(const Output& table) { return NodeBuilder("DiagPart").input(table).output(); }

}  // namespace

Metric mean_iou(const Output& labels, const Output& predictions, int64_t num_classes, const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "mean_iou");
  const Metric table = class_table(labels, predictions, num_classes, options);
  auto value = [](const Output& t, std::string_view name) {
    const Output right = diagonal(t);
    return class_mean(right, reduce_sum(t, {0}) + reduce_sum(t, {1}) - right, name);
  };
  const Output now = value(table.value, "mean_iou");
  return collected(now, value(table.update, "update_op"), options);
}

Metric mean_per_class_accuracy(const Output& labels, const Output& predictions, int64_t num_classes,
                               const MetricOptions& options) {
  auto scope = scope_of(labels.graph(), options, "mean_accuracy");
  const Metric table = class_table(labels, predictions, num_classes, options);
  auto value = [](const Output& t, std::string_view name) { return class_mean(diagonal(t), reduce_sum(t, {1}), name); };
  const Output now = value(table.value, "mean_accuracy");
  return collected(now, value(table.update, "update_op"), options);
}

}  // namespace weir::metrics
