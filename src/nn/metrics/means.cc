#include "base/errors.h"
#include "nn/convert.h"
#include "nn/metrics/state.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

namespace weir::metrics {
namespace {

MetricOptions named(const MetricOptions& options, std::string_view usual) {
  MetricOptions result = options;
  result.name = name_or(options.name, usual);
  return result;
}

// The mean of values, each element by itself or all together.
Metric mean_of(const Output& given, const MetricOptions& options, bool by_element) {
  Graph& graph = given.graph();
  auto scope = graph.variable_scope(name_or(options.name, "mean"), {.unique = options.name.empty()});
  Output values = cast(given, float32);
  const Shape shape = by_element ? values.shape() : Shape{};
  const Variable total = metric_variable(graph, shape, float32, by_element ? "total_tensor" : "total");
  const Variable count = metric_variable(graph, shape, float32, by_element ? "count_tensor" : "count");
  Output number = by_element ? ones_like(values) : cast(size(values), float32);
  if (options.weights) {
    const Output weights = stretched_weights(values, *options.weights, float32);
    values = values * weights;
    number = by_element ? weights : reduce_sum(weights);
  }
  const Output update_total = assign_add(total, by_element ? values : reduce_sum(values));
  Output update_count;
  {
    auto after = graph.control_dependencies({values.op()});
    update_count = assign_add(count, number);
  }
  const Output value = div_no_nan(total, count, "value");
  return collected(value, div_no_nan(update_total, update_count, "update_op"), options);
}

struct Pair {
  Output labels, predictions;
};
Pair as_floats(const Output& labels, const Output& predictions) {
  if (!labels.shape().compatible(predictions.shape())) {
    throw invalid_argument("labels of shape {} and predictions of shape {}", labels.shape().str(),
                           predictions.shape().str());
  }
  return {cast(labels, float32), cast(predictions, float32)};
}

// A metric that another one is computed from, without its collections.
MetricOptions inner(const MetricOptions& options, std::string_view usual) {
  return {.weights = options.weights, .name = name_or(options.name, usual)};
}

}  // namespace

Metric mean(const Output& values, const MetricOptions& options) { return mean_of(values, options, false); }
Metric mean_tensor(const Output& values, const MetricOptions& options) { return mean_of(values, options, true); }

Metric accuracy(const Output& labels, const Output& predictions, const MetricOptions& options) {
  const Output same = equal(cast(predictions, labels.dtype()), labels);
  return mean(cast(same, float32), named(options, "accuracy"));
}

Metric mean_absolute_error(const Output& labels, const Output& predictions, const MetricOptions& options) {
  const Pair pair = as_floats(labels, predictions);
  return mean(abs(pair.predictions - pair.labels), named(options, "mean_absolute_error"));
}

Metric mean_squared_error(const Output& labels, const Output& predictions, const MetricOptions& options) {
  const Pair pair = as_floats(labels, predictions);
  return mean(squared_difference(pair.predictions, pair.labels), named(options, "mean_squared_error"));
}

Metric root_mean_squared_error(const Output& labels, const Output& predictions, const MetricOptions& options) {
  const Metric squared = mean_squared_error(labels, predictions, inner(options, "root_mean_squared_error"));
  return collected(sqrt(squared.value), sqrt(squared.update), options);
}

Metric mean_relative_error(const Output& labels, const Output& predictions, const Output& normalizer,
                           const MetricOptions& options) {
  const Pair pair = as_floats(labels, predictions);
  const Output scale = cast(normalizer, float32);
  const Output relative =
      where(equal(scale, 0.f), zeros_like(pair.labels), abs(pair.labels - pair.predictions) / scale);
  return mean(relative, named(options, "mean_relative_error"));
}

Metric mean_cosine_distance(const Output& labels, const Output& predictions, int axis, const MetricOptions& options) {
  const Pair pair = as_floats(labels, predictions);
  const Output cosine = reduce_sum(pair.predictions * pair.labels, {.axes = {axis}, .keep_dims = true});
  const Metric average = mean(cosine, inner(options, "mean_cosine_distance"));
  return collected(1.f - average.value, 1.f - average.update, options);
}

Metric percentage_below(const Output& values, const In& threshold, const MetricOptions& options) {
  return mean(cast(less(values, threshold), float32), named(options, "percentage_below_threshold"));
}

}  // namespace weir::metrics
