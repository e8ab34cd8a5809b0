#include "base/errors.h"
#include "nn/convert.h"
#include "train/slots.h"
#include "weir/ops.h"
#include "weir/optimizers.h"

namespace weir::train {

AdagradDA::AdagradDA(const In& learning_rate, const In& global_step, const AdagradDAOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      global_step_(global_step),
      l1_(options.l1_regularization_strength),
      l2_(options.l2_regularization_strength),
      initial_squares_(options.initial_gradient_squared_accumulator_value) {
  if (!(initial_squares_ > 0)) {
    throw invalid_argument("initial_gradient_squared_accumulator_value must be positive; it is {}", initial_squares_);
  }
}

void AdagradDA::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    if (slot(variable, "gradient_accumulator")) continue;
    Initializer sum = filled_like(variable, 0), squares = filled_like(variable, initial_squares_);
    make_slot(variable, "gradient_accumulator", sum);
    make_slot(variable, "gradient_squared_accumulator", squares);
  }
}

void AdagradDA::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  Scope beside = graph.colocate_with(learning_rate_tensor_.op());
  step_tensor_ = identity(global_step_) + 1;
}

Operation AdagradDA::apply(const Variable& variable, const Output& grad, const Output& indices) {
  Graph& graph = variable.graph();
  const DType dtype = variable.dtype();
  Output step = identity(step_tensor_);
  // tf.cast of the strengths: the constants "Cast/x" and "Cast_1/x".
  auto strength = [&](const In& value) {
    if (value.output()) return cast(value, dtype);
    Scope scope = graph.name_scope("Cast");
    return cast(nn::as_output(graph, value, float32, "x"), dtype, scope.name());
  };
  Output rate = cast(learning_rate_tensor_, dtype);
  Output l1 = strength(l1_), l2 = strength(l2_);
  NodeBuilder node(apply_name("AdagradDA", variable, static_cast<bool>(indices)));
  node.input(variable.handle())
      .input(slot(variable, "gradient_accumulator").handle())
      .input(slot(variable, "gradient_squared_accumulator").handle())
      .input(grad);
  if (indices) node.input(indices);
  return node.input(rate).input(l1).input(l2).input(step).attr("use_locking", use_locking()).build();
}

Operation AdagradDA::apply_dense(const Output& grad, const Variable& variable) { return apply(variable, grad, {}); }

Operation AdagradDA::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return apply(variable, grad.values, grad.indices);
}

}  // namespace weir::train
