#include "nn/convert.h"
#include "weir/losses.h"
#include "weir/nn.h"
#include "weir/ops.h"

namespace weir::losses {
namespace {

using nn::as_output;
using nn::graph_of;
using nn::type_of;

// Checks that weights are a number or stretch to the values' shape. Of shapes that only the run knows the product
// checks as much; TensorFlow adds an Assert there.
Operation assert_broadcastable(Graph& g, const In& weights, const Output& values) {
  Scope scope = g.name_scope("assert_broadcastable");
  Output w = as_output(g, weights, float32, "weights");
  shape(w, int32, "weights/shape");
  rank(w, "weights/rank");
  shape(values, int32, "values/shape");
  rank(values, "values/rank");
  if (w.shape().is_scalar()) return g.no_op("static_scalar_check_success");
  if (w.shape().has_rank() && values.shape().has_rank()) {
    bool fits = w.shape().rank() == values.shape().rank();
    for (int i = 0; fits && i < w.shape().rank(); ++i) {
      const int64_t size = w.shape()[i], wanted = values.shape()[i];
      fits = size == 1 || size == kUnknown || wanted == kUnknown || size == wanted;
    }
    if (!fits) {
      throw invalid_argument("weights of shape {} cannot be broadcast to values of shape {}", w.shape().str(),
                             values.shape().str());
    }
  }
  return g.no_op("static_dims_check_success");
}

Output broadcast_weights(Graph& g, const Output& weights, const Output& values) {
  if (weights.shape().is_known() && values.shape().is_known() && weights.shape() == values.shape()) return weights;
  Scope scope = g.name_scope("broadcast_weights");
  Scope after = g.control_dependencies({assert_broadcastable(g, weights, values)});
  return multiply(weights, ones_like(values), scope.name());
}

Output num_present(Graph& g, const Output& losses, const Output& weights) {
  Scope scope = g.name_scope("num_present");
  Output absent = equal(weights, 0.0);
  Output none = zeros_like(weights);
  Output present = where(absent, none, ones_like(weights));
  return reduce_sum(broadcast_weights(g, present, losses), ReduceOptions{}, scope.name());
}

Output num_elements(Graph& g, const Output& losses) {
  Scope scope = g.name_scope("num_elements");
  return cast(size(losses, int32, scope.name()), losses.dtype());
}

Output safe_mean(const Output& sum, const Output& count) { return div_no_nan(reduce_sum(sum), count, "value"); }

// Labels and predictions as floats, in a scope of the loss's name.
struct Operands {
  Operands(const In& labels, const In& predictions, const LossOptions& options, std::string_view usual)
      : g(graph_of(predictions, labels)),
        line(g, source_line(predictions.where())),
        scope(g.name_scope(options.scope.empty() ? usual : options.scope)),
        x(cast(as_output(g, predictions, float32, "predictions"), float32)),
        z(cast(as_output(g, labels, float32, "labels"), float32)) {
    if (!x.shape().compatible(z.shape())) {
      throw invalid_argument("predictions of shape {} and labels of shape {} do not fit", x.shape().str(),
                             z.shape().str());
    }
  }
  Output finish(const Output& losses, LossOptions options) const {
    options.scope = scope.name();
    return compute_weighted_loss(losses, options);
  }

  Graph& g;
  LineScope line;
  Scope scope;
  Output x, z;
};

std::vector<Output> outputs_in(const Graph& graph, std::string_view collection, std::string_view scope) {
  std::vector<Output> found;
  for (const std::any& item : graph.collection(collection)) {
    const auto* output = std::any_cast<Output>(&item);
    if (output && output->op().name().starts_with(scope)) found.push_back(*output);
  }
  return found;
}

}  // namespace

Output compute_weighted_loss(const In& losses, const LossOptions& options) {
  Graph& g = graph_of(losses, options.weights);
  LineScope line(g, source_line(losses.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "weighted_loss" : options.scope);
  Output values = as_output(g, losses, float32, "losses");
  const DType dtype = values.dtype();
  Operation checked = assert_broadcastable(g, options.weights, values);
  Scope after = g.control_dependencies({checked});
  values = cast(values, float32);
  Output weights;
  if (options.weights.output()) {
    weights = cast(options.weights, float32);
  } else {
    Scope cast_scope = g.name_scope("Cast");
    weights = cast(as_output(g, options.weights, float32, "x"), float32, cast_scope.name());
  }
  values = multiply(values, weights);
  Output loss = values;
  if (options.reduction != Reduction::None) {
    loss = reduce_sum(values);
    switch (options.reduction) {
      case Reduction::Mean: {
        Output total_weight = reduce_sum(ones_like(values) * weights);
        loss = safe_mean(loss, total_weight);
        break;
      }
      case Reduction::SumOverBatchSize: {
        Output count = num_elements(g, values);
        loss = safe_mean(loss, count);
        break;
      }
      case Reduction::SumByNonzeroWeights: {
        Output count = num_present(g, values, weights);
        loss = safe_mean(loss, count);
        break;
      }
      default:
        break;
    }
  }
  loss = cast(loss, dtype);
  if (!options.collection.empty()) add_loss(loss, options.collection);
  return loss;
}

Output absolute_difference(const In& labels, const In& predictions, const LossOptions& options) {
  Operands o(labels, predictions, options, "absolute_difference");
  return o.finish(abs(subtract(o.x, o.z)), options);
}

Output mean_squared_error(const In& labels, const In& predictions, const LossOptions& options) {
  Operands o(labels, predictions, options, "mean_squared_error");
  return o.finish(squared_difference(o.x, o.z), options);
}

Output cosine_distance(const In& labels, const In& predictions, int axis, const LossOptions& options) {
  Operands o(labels, predictions, options, "cosine_distance_loss");
  Output dots = reduce_sum(multiply(o.x, o.z), {axis}, true);
  return o.finish(1 - dots, options);
}

Output hinge_loss(const In& labels, const In& logits, const LossOptions& options) {
  Operands o(labels, logits, options, "hinge_loss");
  Output all_ones = ones_like(o.z);
  Output doubled = 2 * o.z;
  Output signs = subtract(doubled, all_ones);
  return o.finish(nn::relu(subtract(all_ones, multiply(signs, o.x))), options);
}

Output huber_loss(const In& labels, const In& predictions, float delta, const LossOptions& options) {
  Operands o(labels, predictions, options, "huber_loss");
  Output distance = abs(subtract(o.x, o.z));
  Output quadratic = minimum(distance, delta);
  Output linear = subtract(distance, quadratic);
  Output half = o.g.constant(Literal(0.5), float32);
  Output halved = multiply(half, multiply(quadratic, quadratic));
  return o.finish(add(halved, multiply(delta, linear)), options);
}

Output log_loss(const In& labels, const In& predictions, float epsilon, const LossOptions& options) {
  Operands o(labels, predictions, options, "log_loss");
  Output positive = -multiply(o.z, log(o.x + epsilon));
  Output rest = 1 - o.z;
  Output negative = multiply(rest, log(1 - o.x + epsilon));
  return o.finish(positive - negative, options);
}

Output sigmoid_cross_entropy(const In& multi_class_labels, const In& logits, float label_smoothing,
                             const LossOptions& options) {
  Graph& g = graph_of(logits, multi_class_labels);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "sigmoid_cross_entropy_loss" : options.scope);
  Output x = as_output(g, logits, float32, "logits");
  Output z = cast(as_output(g, multi_class_labels, x.dtype(), "labels"), x.dtype());
  if (label_smoothing > 0) z = z * (1 - label_smoothing) + 0.5 * label_smoothing;
  LossOptions weighted = options;
  weighted.scope = scope.name();
  return compute_weighted_loss(nn::sigmoid_cross_entropy_with_logits(z, x, "xentropy"), weighted);
}

Output softmax_cross_entropy(const In& onehot_labels, const In& logits, float label_smoothing,
                             const LossOptions& options) {
  Graph& g = graph_of(logits, onehot_labels);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "softmax_cross_entropy_loss" : options.scope);
  Output x = as_output(g, logits, float32, "logits");
  Output z = cast(as_output(g, onehot_labels, x.dtype(), "onehot_labels"), x.dtype());
  if (!x.shape().compatible(z.shape())) {
    throw invalid_argument("logits of shape {} and labels of shape {} do not fit", x.shape().str(), z.shape().str());
  }
  if (label_smoothing > 0) {
    Output classes = cast(subscript(shape(z), {1}), x.dtype());
    Output elsewhere = label_smoothing / classes;
    z = z * (1 - label_smoothing) + elsewhere;
  }
  z = stop_gradient(z, "labels_stop_gradient");
  LossOptions weighted = options;
  weighted.scope = scope.name();
  return compute_weighted_loss(nn::softmax_cross_entropy_with_logits_v2(z, x, "xentropy"), weighted);
}

Output sparse_softmax_cross_entropy(const In& labels, const In& logits, const LossOptions& options) {
  Graph& g = graph_of(logits, labels);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "sparse_softmax_cross_entropy_loss" : options.scope);
  Output x = as_output(g, logits, float32, "logits"), z = as_output(g, labels, int32, "labels");
  LossOptions weighted = options;
  weighted.weights = as_output(g, options.weights, float32, "Const");
  // Labels [batch, 1] are taken as [batch]; so are weights.
  auto squeezed = [](const Output& t, int rank) {
    const Shape& shape = t.shape();
    return shape.has_rank() && shape.rank() == rank && rank > 0 && shape[-1] == 1 ? squeeze(t, {-1}) : t;
  };
  if (x.shape().has_rank()) {
    z = squeezed(z, x.shape().rank());
    weighted.weights = squeezed(weighted.weights.output(), x.shape().rank());
  }
  weighted.scope = scope.name();
  return compute_weighted_loss(nn::sparse_softmax_cross_entropy_with_logits(z, x, "xentropy"), weighted);
}

void add_loss(const Output& loss, std::string_view collection) { loss.graph().add_to_collection(collection, loss); }

std::vector<Output> get_losses(const Graph& graph, std::string_view scope, std::string_view collection) {
  return outputs_in(graph, collection, scope);
}

std::vector<Output> get_regularization_losses(const Graph& graph, std::string_view scope) {
  return outputs_in(graph, "regularization_losses", scope);
}

Output get_total_loss(const Graph& graph, bool add_regularization_losses, std::string_view name) {
  std::vector<Output> all = get_losses(graph);
  if (add_regularization_losses) {
    for (const Output& loss : get_regularization_losses(graph)) all.push_back(loss);
  }
  if (all.empty()) throw invalid_argument("there are no losses in the graph");
  return add_n(all, name);
}

}  // namespace weir::losses
