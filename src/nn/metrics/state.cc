#include "nn/metrics/state.h"

#include "base/errors.h"
#include "nn/convert.h"
#include "weir/losses.h"
#include "weir/ops.h"

namespace weir::metrics {

Variable metric_variable(Graph& graph, const Shape& shape, DType dtype, std::string_view name) {
  if (!shape.is_known()) throw invalid_argument("the shape of what a metric adds up must be known: {}", shape.str());
  return graph.variable(name, zeros(graph, shape, dtype),
                        {.trainable = false, .collections = {"local_variables", "metric_variables"}});
}

Metric collected(const Output& value, const Output& update, const MetricOptions& options) {
  Graph& graph = value.graph();
  for (const std::string& name : options.metrics_collections) graph.add_to_collection(name, value);
  for (const std::string& name : options.updates_collections) graph.add_to_collection(name, update);
  return {value, update};
}

Output stretched_weights(const Output& values, const In& weights, DType dtype) {
  Output given = cast(nn::as_output(values.graph(), weights, dtype, "weights"), dtype);
  if (given.shape().rank() + 1 == values.shape().rank() && given.shape().rank() > 0) given = expand_dims(given, -1);
  return losses::broadcast_weights(given, values);
}

Truth truth_of(const Output& labels, const Output& predictions) {
  if (!labels.shape().compatible(predictions.shape())) {
    throw invalid_argument("labels of shape {} and predictions of shape {}", labels.shape().str(),
                           predictions.shape().str());
  }
  return {cast(labels, boolean), cast(predictions, boolean)};
}

std::string_view name_or(std::string_view name, std::string_view usual) { return name.empty() ? usual : name; }

Operation initializer(Graph& graph) {
  std::vector<Operation> initializers;
  for (const std::any& item : graph.collection("metric_variables")) {
    if (const auto* variable = std::any_cast<Variable>(&item)) initializers.push_back(variable->initializer());
  }
  return graph.group(initializers, "init_metrics");
}

}  // namespace weir::metrics
