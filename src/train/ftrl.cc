#include "base/errors.h"
#include "train/slots.h"
#include "weir/ops.h"
#include "weir/optimizers.h"

namespace weir::train {

Ftrl::Ftrl(const In& learning_rate, const FtrlOptions& options)
    : Optimizer(options.name), learning_rate_(learning_rate), options_(options) {
  if (options.learning_rate_power > 0) {
    throw invalid_argument("learning_rate_power must not be positive; it is {}", options.learning_rate_power);
  }
  if (options.initial_accumulator_value < 0 || options.l1_regularization_strength < 0 ||
      options.l2_regularization_strength < 0 || options.l2_shrinkage_regularization_strength < 0) {
    throw invalid_argument("the initial accumulator value and the regularization strengths must not be negative");
  }
}

void Ftrl::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    if (slot(variable, "accum")) continue;
    make_slot(variable, "accum", filled_like(variable, options_.initial_accumulator_value), options_.accum_name);
    make_slot(variable, "linear", zeros_initializer(), options_.linear_name);
  }
}

void Ftrl::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  l1_tensor_ = parameter(graph, options_.l1_regularization_strength, "l1_regularization_strength");
  l2_tensor_ = parameter(graph, options_.l2_regularization_strength, "l2_regularization_strength");
  shrinkage_tensor_ =
      parameter(graph, options_.l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength");
  power_tensor_ = parameter(graph, options_.learning_rate_power, "learning_rate_power");
}

Operation Ftrl::apply(const Variable& variable, const Output& grad, const Output& indices) {
  const DType dtype = variable.dtype();
  const bool shrinks = options_.l2_shrinkage_regularization_strength > 0;
  NodeBuilder node(apply_name(shrinks ? "FtrlV2" : "Ftrl", variable, static_cast<bool>(indices)));
  node.input(variable.handle())
      .input(slot(variable, "accum").handle())
      .input(slot(variable, "linear").handle())
      .input(grad);
  if (indices) node.input(indices);
  node.input(cast(learning_rate_tensor_, dtype)).input(cast(l1_tensor_, dtype)).input(cast(l2_tensor_, dtype));
  if (shrinks) node.input(cast(shrinkage_tensor_, dtype));
  return node.input(cast(power_tensor_, dtype)).attr("use_locking", use_locking()).build();
}

Operation Ftrl::apply_dense(const Output& grad, const Variable& variable) { return apply(variable, grad, {}); }

Operation Ftrl::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return apply(variable, grad.values, grad.indices);
}

}  // namespace weir::train
