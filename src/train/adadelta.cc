#include "train/slots.h"
#include "weir/ops.h"
#include "weir/optimizers.h"

namespace weir::train {

Adadelta::Adadelta(const In& learning_rate, const AdadeltaOptions& options)
    : Optimizer(options.name), learning_rate_(learning_rate), rho_(options.rho), epsilon_(options.epsilon) {}

void Adadelta::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    make_slot(variable, "accum", zeros_initializer());
    make_slot(variable, "accum_update", zeros_initializer());
  }
}

void Adadelta::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "lr");
  rho_tensor_ = parameter(graph, rho_, "rho");
  epsilon_tensor_ = parameter(graph, epsilon_, "epsilon");
}

Operation Adadelta::apply(const Variable& variable, const Output& grad, const Output& indices) {
  const DType dtype = variable.dtype();
  NodeBuilder node(apply_name("Adadelta", variable, static_cast<bool>(indices)));
  node.input(variable.handle())
      .input(slot(variable, "accum").handle())
      .input(slot(variable, "accum_update").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(rho_tensor_, dtype))
      .input(cast(epsilon_tensor_, dtype))
      .input(grad);
  if (indices) node.input(indices);
  return node.attr("use_locking", use_locking()).build();
}

Operation Adadelta::apply_dense(const Output& grad, const Variable& variable) { return apply(variable, grad, {}); }

Operation Adadelta::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return apply(variable, grad.values, grad.indices);
}

}  // namespace weir::train
