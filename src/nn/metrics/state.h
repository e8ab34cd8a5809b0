#pragma once

#include <optional>

#include "weir/metrics.h"

// What the metrics share: local variables, collections, weights.
namespace weir::metrics {

// A variable that begins as zero and is no part of the model; without `fixed` it may take another shape.
Variable metric_variable(Graph& graph, const Shape& shape, DType dtype, std::string_view name, bool fixed = true);

// Both of them, in the collections that the options name.
Metric collected(const Output& value, const Output& update, const MetricOptions& options);

// The weights as numbers of that type, stretched to the shape of `values`.
Output stretched_weights(const Output& values, const In& weights, DType dtype);

// Labels, predictions and weights, which may be empty, of one rank: a last dimension of one of the longer is dropped,
// and added to weights that lack one. Throws InvalidArgument for other shapes that differ.
struct Aligned {
  Output labels, predictions, weights;
};
Aligned aligned(const Output& labels, const Output& predictions, const std::optional<In>& weights);

// A number of the program as a scalar of that type.
Output as_number(Graph& graph, const In& value, DType dtype);

// Labels and predictions as truth values.
struct Truth {
  Output labels, predictions;
};
Truth truth_of(const Output& labels, const Output& predictions);

std::string_view name_or(std::string_view name, std::string_view usual);

}  // namespace weir::metrics
