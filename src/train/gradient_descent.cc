#include "weir/ops.h"
#include "weir/train.h"

namespace weir::train {

GradientDescent::GradientDescent(const In& learning_rate, std::string_view name)
    : Optimizer(name), learning_rate_(learning_rate) {}

void GradientDescent::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
}

Operation GradientDescent::apply_dense(const Output& grad, const Variable& variable) {
  return NodeBuilder(variable.is_resource() ? "ResourceApplyGradientDescent" : "ApplyGradientDescent")
      .input(variable.handle())
      .input(cast(learning_rate_tensor_, variable.dtype()))
      .input(grad)
      .attr("use_locking", use_locking())
      .build();
}

// Subtraction adds up over equal indices by itself.
Operation GradientDescent::apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable) {
  Output step = grad.values * cast(learning_rate_tensor_, variable.dtype());
  NodeBuilder node(variable.is_resource() ? "ResourceScatterSub" : "ScatterSub");
  node.input(variable.handle()).input(grad.indices).input(step);
  if (!variable.is_resource()) node.attr("use_locking", use_locking());
  return node.build();
}

}  // namespace weir::train
