#include "weir/ops.h"
#include "weir/train.h"

namespace weir::train {

RmsProp::RmsProp(const In& learning_rate, const RmsPropOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      decay_(options.decay),
      momentum_(options.momentum),
      epsilon_(options.epsilon) {}

void RmsProp::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    make_slot(variable, "rms", ones_initializer());
    make_slot(variable, "momentum", zeros_initializer());
  }
}

void RmsProp::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  decay_tensor_ = parameter(graph, decay_, "decay");
  momentum_tensor_ = parameter(graph, momentum_, "momentum");
  epsilon_tensor_ = parameter(graph, epsilon_, "epsilon");
}

Operation RmsProp::apply_dense(const Output& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  return NodeBuilder(variable.is_resource() ? "ResourceApplyRMSProp" : "ApplyRMSProp")
      .input(variable.handle())
      .input(slot(variable, "rms").handle())
      .input(slot(variable, "momentum").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(decay_tensor_, dtype))
      .input(cast(momentum_tensor_, dtype))
      .input(cast(epsilon_tensor_, dtype))
      .input(grad)
      .build();
}

Operation RmsProp::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  return NodeBuilder(variable.is_resource() ? "ResourceSparseApplyRMSProp" : "SparseApplyRMSProp")
      .input(variable.handle())
      .input(slot(variable, "rms").handle())
      .input(slot(variable, "momentum").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(decay_tensor_, dtype))
      .input(cast(momentum_tensor_, dtype))
      .input(cast(epsilon_tensor_, dtype))
      .input(grad.values)
      .input(grad.indices)
      .build();
}

}  // namespace weir::train
