#include "nn/convert.h"
#include "weir/ops.h"

namespace weir::nn {
namespace {

// One dimension of a shape, as TensorFlow's Python slices it: the list around `begin` or `size` becomes a Pack node
// below the slice.
Output slice_from(const Output& x, const Output& begin) {
  Scope scope = x.graph().name_scope("Slice");
  Output begins = stack({begin}, 0, "begin");
  return slice(x, begins, x.graph().constant(Literal{1}, int32, "size"), scope.name());
}
Output slice_until(const Output& x, const Output& size) {
  Scope scope = x.graph().name_scope("Slice");
  Output begins = x.graph().constant(Literal{0}, int32, "begin");
  return slice(x, begins, stack({size}, 0, "size"), scope.name());
}

// [a, b, ..., n] as a matrix [a * b * ..., n].
Output flatten_outer_dims(const Output& x) {
  Output ranks = rank(x), sizes = shape(x);
  Output last = slice_from(sizes, subtract(ranks, 1));
  Output matrix = reshape(x, concat({{-1}, last}, 0));
  if (x.shape().has_rank() && x.shape().rank() > 0) {
    Shape known{1, x.shape()[-1]};
    for (int d = 0; d < x.shape().rank() - 1; ++d) {
      const int64_t size = x.shape()[d];
      known.set_dim(0, size == kUnknown || known[0] == kUnknown ? kUnknown : checked_multiply(known[0], size));
    }
    matrix.set_shape(known);
  }
  return matrix;
}

bool is_narrow(DType dtype) { return dtype == float16 || dtype == bfloat16; }

}  // namespace

Output softmax_cross_entropy_with_logits(const In& labels, const In& logits, std::string_view name) {
  Graph& g = graph_of(labels, logits);
  LineScope line(g, source_line(logits.where()));
  std::string scope_name;
  Output stopped;
  {
    Scope scope = g.name_scope(name.empty() ? "softmax_cross_entropy_with_logits_sg" : name);
    scope_name = scope.name();
    stopped = stop_gradient(as_output(g, labels, type_of(logits), "labels"), "labels_stop_gradient");
  }
  return softmax_cross_entropy_with_logits_v2(stopped, logits, scope_name);
}

Output softmax_cross_entropy_with_logits_v2(const In& labels, const In& logits, std::string_view name) {
  Graph& g = graph_of(labels, logits);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(name.empty() ? "softmax_cross_entropy_with_logits" : name);
  Output raw = as_output(g, logits, type_of(labels), "logits");
  // Low precision is too low for sums of exponentials.
  Output precise = is_narrow(raw.dtype()) ? cast(raw, float32) : raw;
  Output targets = cast(as_output(g, labels, precise.dtype(), "labels"), precise.dtype());

  Output ranks = rank(precise), sizes = shape(precise);
  Output matrix = flatten_outer_dims(precise);
  targets = flatten_outer_dims(targets);
  Output cost = NodeBuilder("SoftmaxCrossEntropyWithLogits", scope.name()).input(matrix).input(targets).output(0);
  cost = reshape(cost, slice_until(sizes, subtract(ranks, 1)));
  if (raw.shape().has_rank() && raw.shape().rank() > 0) {
    cost.set_shape(Shape(raw.shape().dims().first(static_cast<size_t>(raw.shape().rank() - 1))));
  }
  return is_narrow(raw.dtype()) ? cast(cost, raw.dtype()) : cost;
}

Output sparse_softmax_cross_entropy_with_logits(const In& labels, const In& logits, std::string_view name) {
  Graph& g = graph_of(labels, logits);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(name.empty() ? "SparseSoftmaxCrossEntropyWithLogits" : name);
  Output targets = as_output(g, labels, int32, "Const"), raw = as_output(g, logits, float32, "Const");
  Output precise = is_narrow(raw.dtype()) ? cast(raw, float32) : raw;
  const Shape &label_shape = targets.shape(), &logit_shape = raw.shape();
  if (logit_shape.is_scalar())
    throw invalid_argument("Logits cannot be scalars - received shape {}", logit_shape.str());
  if (label_shape.has_rank() && logit_shape.has_rank()) {
    if (label_shape.rank() != logit_shape.rank() - 1) {
      throw invalid_argument(
          "Rank mismatch: Rank of labels (received {}) should equal rank of logits minus 1 (received {}), whose last "
          "dimension are the classes",
          label_shape.rank(), logit_shape.rank());
    }
    Shape rows(logit_shape.dims().first(static_cast<size_t>(logit_shape.rank() - 1)));
    // As in TensorFlow not before all sizes are known: [batch, time] and [time, batch] give the same rows.
    if (rows.is_known() && label_shape.is_known() && rows != label_shape) {
      throw invalid_argument(
          "Shape mismatch: the shape of labels (received {}) should equal the shape of logits except for the last "
          "dimension (received {})",
          label_shape.str(), logit_shape.str());
    }
  }
  auto build = [&](const Output& features, const Output& classes) {
    return NodeBuilder("SparseSoftmaxCrossEntropyWithLogits", name).input(features).input(classes).output(0);
  };
  auto narrowed = [&](const Output& cost) { return is_narrow(raw.dtype()) ? cast(cost, raw.dtype()) : cost; };

  Output label_sizes = shape(targets);
  if (logit_shape.rank() == 2) return narrowed(build(precise, targets));
  Output logit_sizes = shape(raw);
  Output classes = subscript(logit_sizes, {rank(raw) - 1});
  Output matrix = reshape(precise, stack({-1, classes}));
  Output cost = build(matrix, reshape(targets, {-1}));
  cost = reshape(cost, label_sizes);
  cost.set_shape(label_shape);
  return narrowed(cost);
}

// max(x, 0) - x * z + log(1 + exp(-|x|)): never overflows, and differentiable at 0 as it is written.
Output sigmoid_cross_entropy_with_logits(const In& labels, const In& logits, std::string_view name) {
  Graph& g = graph_of(labels, logits);
  LineScope line(g, source_line(logits.where()));
  Scope scope = g.name_scope(name.empty() ? "logistic_loss" : name);
  Output x = as_output(g, logits, type_of(labels), "logits"), z = as_output(g, labels, x.dtype(), "labels");
  if (!x.shape().compatible(z.shape())) {
    throw invalid_argument("logits and labels must have the same shape; they have {} and {}", x.shape().str(),
                           z.shape().str());
  }
  Output none = zeros_like(x);
  Output positive = x >= none;
  Output relu_logits = where(positive, x, none);
  Output neg_abs_logits = where(positive, -x, x);
  Output linear = relu_logits - x * z;
  return add(linear, log1p(exp(neg_abs_logits)), scope.name());
}

}  // namespace weir::nn
