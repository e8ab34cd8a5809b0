#include <limits>

#include "nn/metrics/state.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

// Covariance and correlation of two streams of numbers, batch by batch (Chan et al.).
namespace weir::metrics {
namespace {

Output covariance_of(const Output& comoment, const Output& number, std::string_view name) {
  const Output unknown = number.graph().constant(Tensor(std::numeric_limits<float>::quiet_NaN()));
  return where(less_equal(number, 1.f), unknown, comoment / (number - 1.f), name);
}

}  // namespace

Metric streaming_covariance(const Output& predictions, const Output& labels, const MetricOptions& options) {
  Graph& graph = predictions.graph();
  auto scope = graph.variable_scope(name_or(options.name, "covariance"), {.unique = options.name.empty()});
  const Output x = cast(predictions, float32), y = cast(labels, float32);
  auto variable = [&](std::string_view name) { return metric_variable(graph, {}, float32, name); };
  const Variable number = variable("count"), mean_x = variable("mean_prediction"), mean_y = variable("mean_label"),
                 comoment = variable("comoment");
  const Output weights = options.weights ? stretched_weights(y, *options.weights, float32) : ones_like(y);
  const Output batch = reduce_sum(weights);
  const Output now = assign_add(number, batch);
  const Output before = now - batch;
  // The mean of the batch, and the mean before it.
  auto mean_of = [&](const Output& values, const Variable& mean) {
    const Output own = div_no_nan(reduce_sum(values * weights), batch);
    const Output step = div_no_nan((own - mean) * batch, now);
    return std::pair(own, assign_add(mean, step) - step);
  };
  const auto [own_x, last_x] = mean_of(x, mean_x);
  const auto [own_y, last_y] = mean_of(y, mean_y);
  const Output within = reduce_sum((x - own_x) * (y - own_y) * weights);
  const Output between = (last_x - own_x) * (last_y - own_y) * (before * batch / now);
  const Output summed = assign_add(comoment, within + between);
  const Output value = covariance_of(comoment, number, "covariance");
  return collected(value, covariance_of(summed, now, "update_op"), options);
}

Metric streaming_pearson_correlation(const Output& predictions, const Output& labels, const MetricOptions& options) {
  Graph& graph = predictions.graph();
  auto scope = graph.variable_scope(name_or(options.name, "pearson_r"), {.unique = options.name.empty()});
  auto part = [&](const Output& x, const Output& y, std::string_view name) {
    return streaming_covariance(x, y, {.weights = options.weights, .name = name});
  };
  const Metric both = part(predictions, labels, "covariance");
  const Metric own = part(predictions, predictions, "variance_predictions"),
               other = part(labels, labels, "variance_labels");
  auto correlation = [](const Output& c, const Output& a, const Output& b, std::string_view name) {
    return divide(c, sqrt(a) * sqrt(b), name);
  };
  const Output value = correlation(both.value, own.value, other.value, "pearson_r");
  return collected(value, correlation(both.update, own.update, other.update, "update_op"), options);
}

}  // namespace weir::metrics
