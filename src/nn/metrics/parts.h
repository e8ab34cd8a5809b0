#pragma once

#include <array>

#include "weir/streaming_metrics.h"

// What metrics are made of, in the scope of the caller and without collections: the public functions and the Python
// package, which has its own way with shapes and scopes, stand on these. Labels, predictions and weights are of one
// shape here; weights may be empty.
namespace weir::metrics {

enum class Kind { TruePositives, FalsePositives, TrueNegatives, FalseNegatives };
std::string_view name_of(Kind kind);

// From just below zero to just above one. Throws InvalidArgument for fewer than two.
std::vector<float> spread(int count);

// Counts at thresholds, [thresholds] each: of truth values and predictions in [0, 1].
std::vector<Metric> counts_at_thresholds(const Output& labels, const Output& predictions,
                                         const std::vector<float>& thresholds, const Output& weights,
                                         const std::vector<Kind>& wanted);

// What follows from counts at thresholds.
struct Counts {
  Output tp, fn, tn, fp;
};
Output curve_points_of(const Counts& counts, bool roc);
Output f1_of(const Counts& counts, const std::string& node);
Output recall_near_precision(const Counts& counts, float precision, bool strict, std::string_view node);
Output precision_near_recall(const Counts& counts, float target_recall, std::string_view node);

Metric count_part(const Output& values, const Output& weights);
// Labels and predictions of rank one.
Metric kappa_part(const Output& labels, const Output& predictions, int64_t num_classes, const Output& weights);
Metric concat_part(const Output& values, const ConcatOptions& options, std::string_view scope = {});
OperationMetric exact_area_part(const Output& labels, const Output& predictions, const Output& weights, bool roc);
AreaWithBounds bounded_area_part(const Output& labels, const Output& predictions, const Output& weights,
                                 const ConfidenceOptions& confidence);
// The hits of positives and negatives [bins] that were counted, as area.
Output histogram_area(const Output& positives, const Output& negatives);
// The bins of scores, flat.
Output histogram_bins(const Output& scores, const Output& low, const Output& high, int64_t nbins);
PrecisionRecallData equal_thresholds_part(const Output& labels, const Output& predictions, const Output& weights,
                                          int64_t num_thresholds, std::optional<bool> use_locking);

}  // namespace weir::metrics
