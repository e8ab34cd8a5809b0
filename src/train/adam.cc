#include <algorithm>

#include "weir/ops.h"
#include "weir/train.h"

namespace weir::train {

Adam::Adam(const In& learning_rate, const AdamOptions& options)
    : Optimizer(options.name),
      learning_rate_(learning_rate),
      beta1_(options.beta1),
      beta2_(options.beta2),
      epsilon_(options.epsilon) {}

void Adam::create_slots(const std::vector<Variable>& variables) {
  // The powers stand beside the first variable by name, so that it is the same one in every process.
  const Variable& first = *std::min_element(variables.begin(), variables.end(),
                                            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  beta1_power_ = non_slot_variable(beta1_, "beta1_power", first);
  beta2_power_ = non_slot_variable(beta2_, "beta2_power", first);
  for (const Variable& variable : variables) {
    make_slot(variable, "m", zeros_initializer());
    make_slot(variable, "v", zeros_initializer());
  }
}

void Adam::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  beta1_tensor_ = parameter(graph, beta1_, "beta1");
  beta2_tensor_ = parameter(graph, beta2_, "beta2");
  epsilon_tensor_ = parameter(graph, epsilon_, "epsilon");
}

Operation Adam::apply_dense(const Output& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  return NodeBuilder(variable.is_resource() ? "ResourceApplyAdam" : "ApplyAdam")
      .input(variable.handle())
      .input(slot(variable, "m").handle())
      .input(slot(variable, "v").handle())
      .input(cast(beta1_power_, dtype))
      .input(cast(beta2_power_, dtype))
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(beta1_tensor_, dtype))
      .input(cast(beta2_tensor_, dtype))
      .input(cast(epsilon_tensor_, dtype))
      .input(grad)
      .attr("use_locking", use_locking())
      .build();
}

// The moments of rows without a gradient decay too, so every row moves.
Operation Adam::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  Graph& graph = variable.graph();
  const DType dtype = variable.dtype();
  Output beta1_power = cast(beta1_power_, dtype), beta2_power = cast(beta2_power_, dtype);
  Output rate = cast(learning_rate_tensor_, dtype), epsilon = cast(epsilon_tensor_, dtype);
  Output beta1 = cast(beta1_tensor_, dtype), beta2 = cast(beta2_tensor_, dtype);
  Output scaled_rate = rate * sqrt(1 - beta2_power);
  scaled_rate = scaled_rate / (1 - beta1_power);

  auto decayed_sum = [&](const Variable& moment, const Output& decay, const Output& rows) {
    Output decayed = assign(moment, moment * decay, {.use_locking = use_locking()});
    Scope after = graph.control_dependencies({decayed.op()});
    return scatter_add(moment, grad.indices, rows);
  };
  Output m_rows = grad.values * (1 - beta1);
  Output m = decayed_sum(slot(variable, "m"), beta1, m_rows);
  Output squares = grad.values * grad.values;
  Output v_rows = squares * (1 - beta2);
  Output v = decayed_sum(slot(variable, "v"), beta2, v_rows);
  Output root = sqrt(v);
  Output step = scaled_rate * m;
  Output update = assign_sub(variable, step / (root + epsilon));
  return graph.group(std::vector<Operation>{update.op(), m.op(), v.op()});
}

Operation Adam::finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) {
  std::vector<Operation> all = updates;
  {
    Scope after = graph.control_dependencies(updates);
    Scope beside = graph.colocate_with(beta1_power_.handle().op());
    all.push_back(assign(beta1_power_, beta1_power_ * beta1_tensor_, {.use_locking = use_locking()}).op());
    all.push_back(assign(beta2_power_, beta2_power_ * beta2_tensor_, {.use_locking = use_locking()}).op());
  }
  return graph.group(all, name);
}

}  // namespace weir::train
