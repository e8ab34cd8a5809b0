#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Metrics over many batches. Each has local variables that its update adds to, and a value that is computed from them:
//
//   auto [accuracy, update] = metrics::accuracy(labels, predictions);
//   session.run(metrics::initializer(g));
//   for (...) session.run(update, feeds);
//   session.run(accuracy)
namespace weir::metrics {

struct Metric {
  Output value, update;  // the update gives the value after it
};
struct MetricOptions {
  std::optional<In> weights = {};  // broadcast to the values
  std::string_view name = {};      // of the variable scope
  std::vector<std::string> metrics_collections = {}, updates_collections = {};
};

// Sets all metrics made so far back to nothing.
WEIR_API Operation initializer(Graph& graph);

// Means: of values, of each of their elements, of how often something holds, of errors.
WEIR_API Metric mean(const Output& values, const MetricOptions& options = {});
WEIR_API Metric mean_tensor(const Output& values, const MetricOptions& options = {});
WEIR_API Metric accuracy(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric mean_absolute_error(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric mean_squared_error(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric root_mean_squared_error(const Output& labels, const Output& predictions,
                                        const MetricOptions& options = {});
WEIR_API Metric mean_relative_error(const Output& labels, const Output& predictions, const Output& normalizer,
                                    const MetricOptions& options = {});
WEIR_API Metric mean_cosine_distance(const Output& labels, const Output& predictions, int axis,
                                     const MetricOptions& options = {});
WEIR_API Metric percentage_below(const Output& values, const In& threshold, const MetricOptions& options = {});

// Counts of truth values, and what follows from them.
WEIR_API Metric true_positives(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric false_positives(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric true_negatives(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric false_negatives(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric precision(const Output& labels, const Output& predictions, const MetricOptions& options = {});
WEIR_API Metric recall(const Output& labels, const Output& predictions, const MetricOptions& options = {});

// The same for predictions in [0, 1], at each threshold.
WEIR_API Metric precision_at_thresholds(const Output& labels, const Output& predictions,
                                        const std::vector<float>& thresholds, const MetricOptions& options = {});
WEIR_API Metric recall_at_thresholds(const Output& labels, const Output& predictions,
                                     const std::vector<float>& thresholds, const MetricOptions& options = {});
// The counts themselves, [thresholds].
WEIR_API Metric true_positives_at_thresholds(const Output& labels, const Output& predictions,
                                             const std::vector<float>& thresholds, const MetricOptions& options = {});
WEIR_API Metric false_positives_at_thresholds(const Output& labels, const Output& predictions,
                                              const std::vector<float>& thresholds, const MetricOptions& options = {});
WEIR_API Metric true_negatives_at_thresholds(const Output& labels, const Output& predictions,
                                             const std::vector<float>& thresholds, const MetricOptions& options = {});
WEIR_API Metric false_negatives_at_thresholds(const Output& labels, const Output& predictions,
                                              const std::vector<float>& thresholds, const MetricOptions& options = {});
// One at the threshold where the other is nearest to what is asked for. Throws InvalidArgument outside [0, 1].
WEIR_API Metric sensitivity_at_specificity(const Output& labels, const Output& predictions, float specificity,
                                           int num_thresholds = 200, const MetricOptions& options = {});
WEIR_API Metric specificity_at_sensitivity(const Output& labels, const Output& predictions, float sensitivity,
                                           int num_thresholds = 200, const MetricOptions& options = {});
// The area under the receiver operating characteristic ("ROC") or under precision and recall ("PR").
struct AucOptions {
  int num_thresholds = 200;
  std::string curve = "ROC";
};
WEIR_API Metric auc(const Output& labels, const Output& predictions, const AucOptions& auc_options = {},
                    const MetricOptions& options = {});

// Of classes: intersection over union, and the accuracy of each class, their means.
WEIR_API Metric mean_iou(const Output& labels, const Output& predictions, int64_t num_classes,
                         const MetricOptions& options = {});
WEIR_API Metric mean_per_class_accuracy(const Output& labels, const Output& predictions, int64_t num_classes,
                                        const MetricOptions& options = {});

// How good the best k predictions are: labels [..., n], the classes that are right; predictions [..., classes], or, for
// those at the top k, the classes, best first. Of one class only, if there is a class_id.
WEIR_API Metric precision_at_k(const Output& labels, const Output& predictions, int k,
                               std::optional<int64_t> class_id = {}, const MetricOptions& options = {});
WEIR_API Metric recall_at_k(const Output& labels, const Output& predictions, int k,
                            std::optional<int64_t> class_id = {}, const MetricOptions& options = {});
WEIR_API Metric precision_at_top_k(const Output& labels, const Output& predictions_idx,
                                   std::optional<int64_t> class_id = {}, const MetricOptions& options = {});
WEIR_API Metric recall_at_top_k(const Output& labels, const Output& predictions_idx,
                                std::optional<int64_t> class_id = {}, const MetricOptions& options = {});
// The mean of precision averaged over the places of the right classes. Throws InvalidArgument for k below 1.
WEIR_API Metric average_precision_at_k(const Output& labels, const Output& predictions, int k,
                                       const MetricOptions& options = {});

// Of two streams of numbers: the unbiased covariance, and the correlation.
WEIR_API Metric streaming_covariance(const Output& predictions, const Output& labels,
                                     const MetricOptions& options = {});
WEIR_API Metric streaming_pearson_correlation(const Output& predictions, const Output& labels,
                                              const MetricOptions& options = {});

}  // namespace weir::metrics
