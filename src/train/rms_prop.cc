#include "weir/ops.h"
#include "weir/train.h"

namespace weir::train {

RmsProp::RmsProp(const In& learning_rate, const RmsPropOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      decay_(options.decay),
      momentum_(options.momentum),
      epsilon_(options.epsilon),
      centered_(options.centered) {}

void RmsProp::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    make_slot(variable, "rms", ones_initializer());
    if (centered_) make_slot(variable, "mg", zeros_initializer());
    make_slot(variable, "momentum", zeros_initializer());
  }
}

void RmsProp::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  decay_tensor_ = parameter(graph, decay_, "decay");
  momentum_tensor_ = parameter(graph, momentum_, "momentum");
  epsilon_tensor_ = parameter(graph, epsilon_, "epsilon");
}

Operation RmsProp::apply(const Variable& variable, const Output& grad, const Output& indices) {
  const DType dtype = variable.dtype();
  std::string op = variable.is_resource() ? "Resource" : "";
  op += indices ? "SparseApply" : "Apply";
  op += centered_ ? "CenteredRMSProp" : "RMSProp";
  NodeBuilder node(op);
  node.input(variable.handle());
  if (centered_) node.input(slot(variable, "mg").handle());
  node.input(slot(variable, "rms").handle()).input(slot(variable, "momentum").handle());
  for (const Output& p : {learning_rate_tensor_, decay_tensor_, momentum_tensor_, epsilon_tensor_}) {
    node.input(cast(p, dtype));
  }
  node.input(grad);
  if (indices) node.input(indices);
  return node.attr("use_locking", use_locking()).build();
}

Operation RmsProp::apply_dense(const Output& grad, const Variable& variable) { return apply(variable, grad, {}); }

Operation RmsProp::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return apply(variable, grad.values, grad.indices);
}

}  // namespace weir::train
