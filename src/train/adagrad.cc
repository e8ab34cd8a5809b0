#include "weir/ops.h"
#include "weir/train.h"

namespace weir::train {

Adagrad::Adagrad(const In& learning_rate, const AdagradOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      initial_accumulator_value_(options.initial_accumulator_value) {}

void Adagrad::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    make_slot(variable, "accumulator", constant_initializer(initial_accumulator_value_));
  }
}

void Adagrad::prepare(Graph& graph) { learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate"); }

Operation Adagrad::apply_dense(const Output& grad, const Variable& variable) {
  return NodeBuilder(variable.is_resource() ? "ResourceApplyAdagrad" : "ApplyAdagrad")
      .input(variable.handle())
      .input(slot(variable, "accumulator").handle())
      .input(cast(learning_rate_tensor_, variable.dtype()))
      .input(grad)
      .attr("use_locking", use_locking())
      .build();
}

Operation Adagrad::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return NodeBuilder(variable.is_resource() ? "ResourceSparseApplyAdagrad" : "SparseApplyAdagrad")
      .input(variable.handle())
      .input(slot(variable, "accumulator").handle())
      .input(cast(learning_rate_tensor_, variable.dtype()))
      .input(grad.values)
      .input(grad.indices)
      .attr("use_locking", use_locking())
      .build();
}

}  // namespace weir::train
