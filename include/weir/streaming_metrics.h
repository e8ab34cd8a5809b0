#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weir/metrics.h"

// The metrics of tf.contrib.metrics beside those of metrics.h: agreement, exact areas, the best threshold, rates of
// errors, and lists of all values. Labels and predictions have one shape; predictions at thresholds lie in [0, 1].
namespace weir::metrics {

// A metric whose update gives no value.
struct OperationMetric {
  Output value;
  Operation update;
};

// How many values there were, by weight.
WEIR_API Metric count(const Output& values, const MetricOptions& options = {});

// How much more often classes agree than by chance. Throws InvalidArgument for fewer than two classes.
WEIR_API Metric cohen_kappa(const Output& labels, const Output& predictions_idx, int64_t num_classes,
                            const MetricOptions& options = {});

struct ConcatOptions {
  int axis = 0;
  std::optional<int64_t> max_size = {};  // what is beyond is dropped
};
// All values, one batch after the other; the update gives how many there are. Throws InvalidArgument unless all sizes
// but that of the axis are known.
WEIR_API Metric streaming_concat(const Output& values, const ConcatOptions& concat = {},
                                 const MetricOptions& options = {});

// The exact area under the receiver operating characteristic ("ROC") or under precision and recall ("PR"), float64: all
// predictions are kept. Labels are 0 or 1.
WEIR_API OperationMetric streaming_dynamic_auc(const Output& labels, const Output& predictions,
                                               const std::string& curve = "ROC", const MetricOptions& options = {});

struct ConfidenceOptions {
  double alpha = 0.95;               // how likely the area lies between the bounds
  bool logit_transformation = true;  // bounds within [0, 1]
};
struct AreaWithBounds {
  Output auc, lower, upper;
  Operation update;
};
// The exact area under the receiver operating characteristic and between what it lies (DeLong et al., 1988). Throws
// InvalidArgument for an alpha outside of (0, 1).
WEIR_API AreaWithBounds auc_with_confidence_intervals(const Output& labels, const Output& predictions,
                                                      const ConfidenceOptions& confidence = {},
                                                      const MetricOptions& options = {});

struct HistogramAucOptions {
  int64_t nbins = 100;
  std::string_view name = {};
};
// The area under the receiver operating characteristic, of scores that are counted in bins between `low` and `high`.
WEIR_API OperationMetric auc_using_histogram(const Output& boolean_labels, const Output& scores, const In& low,
                                             const In& high, const HistogramAucOptions& options = {});

// Wrong ones among the negatives, and among the positives: of truth values, and at each threshold.
WEIR_API Metric streaming_false_positive_rate(const Output& predictions, const Output& labels,
                                              const MetricOptions& options = {});
WEIR_API Metric streaming_false_negative_rate(const Output& predictions, const Output& labels,
                                              const MetricOptions& options = {});
WEIR_API Metric streaming_false_positive_rate_at_thresholds(const Output& predictions, const Output& labels,
                                                            const std::vector<float>& thresholds,
                                                            const MetricOptions& options = {});
WEIR_API Metric streaming_false_negative_rate_at_thresholds(const Output& predictions, const Output& labels,
                                                            const std::vector<float>& thresholds,
                                                            const MetricOptions& options = {});

// The points [thresholds, 2] of a curve.
WEIR_API OperationMetric streaming_curve_points(const Output& labels, const Output& predictions,
                                                const AucOptions& curve = {}, const MetricOptions& options = {});
// The best F1 score over all thresholds.
WEIR_API Metric f1_score(const Output& labels, const Output& predictions, int num_thresholds = 200,
                         const MetricOptions& options = {});
// The recall at the threshold whose precision is nearest to `precision`; strictly: not below it. And the precision at
// the highest threshold whose recall is at least `target_recall`. Throw InvalidArgument outside [0, 1].
WEIR_API Metric recall_at_precision(const Output& labels, const Output& predictions, float precision,
                                    int num_thresholds = 200, bool strict_mode = false,
                                    const MetricOptions& options = {});
WEIR_API Metric precision_at_recall(const Output& labels, const Output& predictions, float target_recall,
                                    int num_thresholds = 200, const MetricOptions& options = {});

// Counts at thresholds of equal distance, in time that does not grow with their number: [thresholds] each.
struct PrecisionRecallData {
  Output tp, fp, tn, fn, precision, recall, thresholds;
  Operation update;
};
WEIR_API PrecisionRecallData precision_recall_at_equal_thresholds(const Output& labels, const Output& predictions,
                                                                  int64_t num_thresholds = 201,
                                                                  const MetricOptions& options = {});

}  // namespace weir::metrics
