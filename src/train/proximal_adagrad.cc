#include "base/errors.h"
#include "train/slots.h"
#include "weir/ops.h"
#include "weir/optimizers.h"

namespace weir::train {

ProximalAdagrad::ProximalAdagrad(const In& learning_rate, const ProximalAdagradOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      l1_(options.l1_regularization_strength),
      l2_(options.l2_regularization_strength),
      initial_accumulator_value_(options.initial_accumulator_value) {
  if (!(initial_accumulator_value_ > 0)) {
    throw invalid_argument("initial_accumulator_value must be positive; it is {}", initial_accumulator_value_);
  }
}

void ProximalAdagrad::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    if (slot(variable, "accumulator")) continue;
    make_slot(variable, "accumulator", filled_like(variable, initial_accumulator_value_));
  }
}

void ProximalAdagrad::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  l1_tensor_ = parameter(graph, l1_, "l1_regularization_strength");
  l2_tensor_ = parameter(graph, l2_, "l2_regularization_strength");
}

Operation ProximalAdagrad::apply(const Variable& variable, const Output& grad, const Output& indices) {
  const DType dtype = variable.dtype();
  NodeBuilder node(apply_name("ProximalAdagrad", variable, static_cast<bool>(indices)));
  node.input(variable.handle())
      .input(slot(variable, "accumulator").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(l1_tensor_, dtype))
      .input(cast(l2_tensor_, dtype))
      .input(grad);
  if (indices) node.input(indices);
  return node.attr("use_locking", use_locking()).build();
}

Operation ProximalAdagrad::apply_dense(const Output& grad, const Variable& variable) {
  return apply(variable, grad, {});
}

Operation ProximalAdagrad::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return apply(variable, grad.values, grad.indices);
}

}  // namespace weir::train
