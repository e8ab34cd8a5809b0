#include "nn/convert.h"
#include "weir/losses.h"
#include "weir/nn.h"
#include "weir/ops.h"

namespace weir::losses {
namespace {

using nn::as_output;
using nn::graph_of;
using nn::type_of;

// tf.cast of an argument: a value becomes a constant inside the scope of the cast.
Output cast_argument(Graph& g, const In& value, DType dtype) {
  if (value.output()) return cast(value, dtype);
  Scope scope = g.name_scope("Cast");
  return cast(as_output(g, value, dtype, "x"), dtype, scope.name());
}

void require_compatible(const Output& a, const Output& b) {
  if (!a.shape().compatible(b.shape())) {
    throw invalid_argument("shapes {} and {} are incompatible", a.shape().str(), b.shape().str());
  }
}

// All dimensions but the first, as a tensor.
Output inner_axes(const Output& x) {
  Output ranks = rank(x);
  return range(1, ranks, 1);
}

// How many losses have a weight that is not zero: of all, or of each example.
Output num_present(Graph& g, const Output& losses, const Output& weights, bool per_example = false) {
  Scope scope = g.name_scope("num_present");
  Output absent = equal(weights, 0.0);
  Output none = zeros_like(weights);
  Output present = broadcast_weights(where(absent, none, ones_like(weights)), losses);
  if (!per_example) return reduce_sum(present, ReduceOptions{}, scope.name());
  return reduce_sum(present, {.axes = inner_axes(present), .keep_dims = true}, scope.name());
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
        x(cast_argument(g, predictions, float32)),
        z(cast_argument(g, labels, float32)) {
    require_compatible(x, z);
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

// The nodes are TensorFlow's where the shapes are known, so that seeds, which count nodes, draw the same numbers after
// a loss.
Operation assert_broadcastable(const In& weights, const In& values_in) {
  Graph& g = graph_of(values_in, weights);
  Scope scope = g.name_scope("assert_broadcastable");
  Output values = as_output(g, values_in, float32, "values");
  Output w = as_output(g, weights, float32, "weights");
  Output weights_shape = shape(w, int32, "weights/shape");
  Output weights_rank = rank(w, "weights/rank");
  Output values_shape = shape(values, int32, "values/shape");
  Output values_rank = rank(values, "values/rank");
  const Shape &have = w.shape(), &want = values.shape();
  if (have.is_scalar()) return g.no_op("static_scalar_check_success");
  const bool ranks_known = have.has_rank() && want.has_rank();
  bool fits = !ranks_known || have.rank() == want.rank();
  for (int i = 0; ranks_known && fits && i < have.rank(); ++i) {
    fits = have[i] == 1 || have[i] == kUnknown || want[i] == kUnknown || have[i] == want[i];
  }
  constexpr std::string_view kMessage = "weights can not be broadcast to values";
  if (!fits) {
    throw invalid_argument("{}: weights have shape {}, values {}", kMessage, have.str(), want.str());
  }
  if (have.is_known() && want.is_known()) return g.no_op("static_dims_check_success");
  Output have_sizes = weights_shape, want_sizes = values_shape;
  if (!ranks_known) {  // as many sizes as both have
    Output common = expand_dims(minimum(weights_rank, values_rank), 0);
    have_sizes = slice(weights_shape, {0}, common);
    want_sizes = slice(values_shape, {0}, common);
  }
  Output stretches = equal(have_sizes, 1);
  Output valid = reduce_all(logical_or(stretches, equal(have_sizes, want_sizes)));
  if (!ranks_known) {
    Output is_scalar = equal(weights_rank, 0);
    valid = logical_or(is_scalar, logical_and(equal(weights_rank, values_rank), valid));
  }
  return assert_true(valid, {g.constant(Tensor(std::string(kMessage))), weights_shape, values_shape});
}

Output broadcast_weights(const In& weights_in, const In& values_in) {
  Graph& g = graph_of(values_in, weights_in);
  Output values = as_output(g, values_in, float32, "values");
  Output weights = as_output(g, weights_in, values.dtype(), "weights");
  if (weights.shape().is_known() && values.shape().is_known() && weights.shape() == values.shape()) return weights;
  Scope scope = g.name_scope("broadcast_weights");
  Scope after = g.control_dependencies({assert_broadcastable(weights, values)});
  return multiply(weights, ones_like(values), scope.name());
}

Output compute_weighted_loss(const In& losses, const LossOptions& options) {
  Graph& g = graph_of(losses, options.weights);
  LineScope line(g, source_line(losses.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "weighted_loss" : options.scope);
  Output values = as_output(g, losses, float32, "losses");
  const DType dtype = values.dtype();
  Operation checked = assert_broadcastable(options.weights, values);
  Scope after = g.control_dependencies({checked});
  values = cast(values, float32);
  Output weights = cast_argument(g, options.weights, float32);
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

Output mean_pairwise_squared_error(const In& labels, const In& predictions, const PairwiseLossOptions& options) {
  Graph& g = graph_of(predictions, labels);
  LineScope line(g, source_line(predictions.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "mean_pairwise_squared_error" : options.scope);
  Output weights = cast_argument(g, options.weights, float32);
  Output z = cast_argument(g, labels, float32);
  Scope after = g.control_dependencies({assert_broadcastable(weights, z)});
  Output x = cast_argument(g, predictions, float32);
  require_compatible(x, z);
  Output error = subtract(x, z);
  const ReduceOptions each{.axes = inner_axes(error), .keep_dims = true};
  Output squares = reduce_sum(square(error), each);
  Output count = num_present(g, error, weights, true);
  // The sum over pairs (a - b)^2 is 2 (n sum a^2 - (sum a)^2).
  Output pairs = maximum(count - 1, 0);
  Output first = 2.0 * div_no_nan(squares, pairs, "value");
  Output total = square(reduce_sum(error, each));
  Output others = count - 1;
  Output second = 2.0 * div_no_nan(total, maximum(multiply(count, others), 0), "value");
  Output loss = reduce_sum(multiply(first - second, weights));
  Output any = reduce_sum(count) > 0;
  Output mean_loss = where(any, loss, zeros_like(loss), "value");
  if (!options.collection.empty()) add_loss(mean_loss, options.collection);
  return mean_loss;
}

Output sigmoid_cross_entropy(const In& multi_class_labels, const In& logits, float label_smoothing,
                             const LossOptions& options) {
  Graph& g = graph_of(logits, multi_class_labels);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(options.scope.empty() ? "sigmoid_cross_entropy_loss" : options.scope);
  Output x = as_output(g, logits, float32, "logits");
  Output z = cast_argument(g, multi_class_labels, x.dtype());
  require_compatible(x, z);
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
  Output z = cast_argument(g, onehot_labels, x.dtype());
  require_compatible(x, z);
  if (label_smoothing > 0) {
    Output classes = cast(subscript(shape(z), {-1}), x.dtype());
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
  // Labels [batch, 1] are taken as [batch]; so are weights.
  auto squeezed = [](const Output& t, const Output& like, int less) {
    const Shape &own = t.shape(), &other = like.shape();
    if (own.has_rank() && other.has_rank()) return own.rank() == other.rank() - less + 1 ? squeeze(t, {-1}) : t;
    if (own.is_scalar()) return t;
    // The run tells whether there is one dimension too many.
    Output longer = equal(rank(t), rank(like) - less + 1);
    Output kept = where(longer, rank(t) - 1, rank(t));
    return reshape(t, slice(shape(t), {0}, expand_dims(kept, 0)));
  };
  Output x, z;
  {
    Scope inner = g.name_scope("remove_squeezable_dimensions");
    x = as_output(g, logits, float32, "Const");
    z = as_output(g, labels, int32, "Const");
    z = squeezed(z, x, 1);
  }
  LossOptions weighted = options;
  Output weights = as_output(g, options.weights, float32, "Const");
  weighted.weights = squeezed(weights, z, 0);
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
