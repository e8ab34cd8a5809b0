#include "collectives/groups.h"
#include "weir/distributed_optimizers.h"
#include "weir/ops.h"

namespace weir::train {

GradsAndVars WrappedOptimizer::compute_gradients(const Output& loss, const ComputeGradientsOptions& options,
                                                 In::Where where) {
  return inner_.compute_gradients(loss, options, where);
}
Operation WrappedOptimizer::apply_gradients(const GradsAndVars& grads_and_vars, const ApplyGradientsOptions& options,
                                            In::Where where) {
  return inner_.apply_gradients(grads_and_vars, options, where);
}
void WrappedOptimizer::create_slots(const std::vector<Variable>& variables) { inner_.create_slots(variables); }
void WrappedOptimizer::prepare(Graph& graph) { inner_.prepare(graph); }
Operation WrappedOptimizer::apply_dense(const Output& grad, const Variable& variable) {
  return inner_.apply_dense(grad, variable);
}
Operation WrappedOptimizer::apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable) {
  return inner_.apply_sparse_duplicate_indices(grad, variable);
}
Operation WrappedOptimizer::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  return inner_.apply_sparse(grad, variable);
}
Operation WrappedOptimizer::finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) {
  return inner_.finish(graph, updates, name);
}

DistributedOptimizer::DistributedOptimizer(Optimizer& inner, const DistributedOptimizerOptions& options)
    : WrappedOptimizer(inner, options.name.empty() ? "Distributed" + inner.name() : std::string(options.name)),
      reduction_(options.reduction),
      sparse_as_dense_(options.sparse_as_dense),
      group_(options.group) {}

GradsAndVars DistributedOptimizer::compute_gradients(const Output& loss, const ComputeGradientsOptions& options,
                                                     In::Where where) {
  GradsAndVars pairs = inner().compute_gradients(loss, options, where);
  if (collectives::require_group(group_)->size() == 1) return pairs;
  Scope scope = loss.graph().name_scope(name() + "_Allreduce");
  for (auto& [gradient, variable] : pairs) {
    if (!gradient) continue;
    if (gradient.sparse() && sparse_as_dense_) gradient = gradient.dense();
    gradient = distributed::allreduce_gradient(gradient, {.reduction = reduction_, .group = group_}, where);
  }
  return pairs;
}

}  // namespace weir::train
