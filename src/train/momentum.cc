#include "weir/ops.h"
#include "weir/train.h"

namespace weir::train {

Momentum::Momentum(const In& learning_rate, const In& momentum, const MomentumOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      momentum_(momentum),
      use_nesterov_(options.use_nesterov) {}

void Momentum::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) make_slot(variable, "momentum", zeros_initializer());
}

void Momentum::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  momentum_tensor_ = parameter(graph, momentum_, "momentum");
}

Operation Momentum::apply_dense(const Output& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  return NodeBuilder(variable.is_resource() ? "ResourceApplyMomentum" : "ApplyMomentum")
      .input(variable.handle())
      .input(slot(variable, "momentum").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(grad)
      .input(cast(momentum_tensor_, dtype))
      .attr("use_nesterov", use_nesterov_)
      .attr("use_locking", use_locking())
      .build();
}

Operation Momentum::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  return NodeBuilder(variable.is_resource() ? "ResourceSparseApplyMomentum" : "SparseApplyMomentum")
      .input(variable.handle())
      .input(slot(variable, "momentum").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(grad.values)
      .input(grad.indices)
      .input(cast(momentum_tensor_, dtype))
      .attr("use_nesterov", use_nesterov_)
      .attr("use_locking", use_locking())
      .build();
}

}  // namespace weir::train
