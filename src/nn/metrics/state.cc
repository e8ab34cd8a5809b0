#include "nn/metrics/state.h"

#include "base/errors.h"
#include "graph/variables.h"
#include "nn/convert.h"
#include "weir/losses.h"
#include "weir/ops.h"

namespace weir::metrics {

Variable metric_variable(Graph& graph, const Shape& shape, DType dtype, std::string_view name, bool fixed) {
  if (!shape.is_known()) throw invalid_argument("the shape of what a metric adds up must be known: {}", shape.str());
  return make_variable(graph, name, true, [&] { return zeros(graph, shape, dtype); },
                       {.trainable = false,
                        .collections = {"local_variables", "metric_variables"},
                        .dtype = dtype,
                        .validate_shape = fixed});
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

Output as_number(Graph& graph, const In& value, DType dtype) { return nn::as_output(graph, value, dtype, "value"); }

Aligned aligned(const Output& given_labels, const Output& given_predictions, const std::optional<In>& weights) {
  Aligned a{given_labels, given_predictions, {}};
  const Shape &labels = given_labels.shape(), &predictions = given_predictions.shape();
  if (labels.has_rank() && predictions.has_rank()) {
    if (predictions.rank() == labels.rank() + 1) a.predictions = squeeze(a.predictions, {-1});
    if (labels.rank() == predictions.rank() + 1) a.labels = squeeze(a.labels, {-1});
  }
  if (!a.labels.shape().compatible(a.predictions.shape())) {
    throw invalid_argument("labels of shape {} and predictions of shape {}", labels.str(), predictions.str());
  }
  if (!weights) return a;
  Output own = nn::as_output(given_labels.graph(), *weights, float32, "weights");
  if (own.shape().has_rank() && a.predictions.shape().has_rank() && own.shape().rank() > 0) {
    const int more = own.shape().rank() - a.predictions.shape().rank();
    if (more == 1) own = squeeze(own, {-1});
    if (more == -1) own = expand_dims(own, -1);
  }
  a.weights = losses::broadcast_weights(own, a.predictions);
  return a;
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
