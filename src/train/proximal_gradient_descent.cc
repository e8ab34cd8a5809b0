#include "train/slots.h"
#include "weir/ops.h"
#include "weir/optimizers.h"

namespace weir::train {

ProximalGradientDescent::ProximalGradientDescent(const In& learning_rate, const ProximalOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      l1_(options.l1_regularization_strength),
      l2_(options.l2_regularization_strength) {}

void ProximalGradientDescent::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  l1_tensor_ = parameter(graph, l1_, "l1_regularization_strength");
  l2_tensor_ = parameter(graph, l2_, "l2_regularization_strength");
}

Operation ProximalGradientDescent::apply(const Variable& variable, const Output& grad, const Output& indices) {
  const DType dtype = variable.dtype();
  NodeBuilder node(apply_name("ProximalGradientDescent", variable, static_cast<bool>(indices)));
  node.input(variable.handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(l1_tensor_, dtype))
      .input(cast(l2_tensor_, dtype))
      .input(grad);
  if (indices) node.input(indices);
  return node.attr("use_locking", use_locking()).build();
}

Operation ProximalGradientDescent::apply_dense(const Output& grad, const Variable& variable) {
  return apply(variable, grad, {});
}

Operation ProximalGradientDescent::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return apply(variable, grad.values, grad.indices);
}

}  // namespace weir::train
