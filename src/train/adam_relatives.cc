#include <algorithm>

#include "train/slots.h"
#include "weir/contrib_optimizers.h"
#include "weir/ops.h"

namespace weir::train {

AdamRelative::AdamRelative(Kind kind, const In& learning_rate, const AdamOptions& options)
    : Optimizer(options.name),
      kind_(kind),
      learning_rate_(learning_rate),
      beta1_(options.beta1),
      beta2_(options.beta2),
      epsilon_(options.epsilon) {}

void AdamRelative::create_slots(const std::vector<Variable>& variables) {
  const Variable& first = *std::min_element(variables.begin(), variables.end(),
                                            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  beta1_power_ = non_slot_variable(beta1_, "beta1_power", first);
  if (kind_ != Kind::AdaMax) beta2_power_ = non_slot_variable(beta2_, "beta2_power", first);
  for (const Variable& variable : variables) {
    make_slot(variable, "m", zeros_initializer());
    make_slot(variable, "v", zeros_initializer());
  }
}

void AdamRelative::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  beta1_tensor_ = parameter(graph, beta1_, "beta1");
  beta2_tensor_ = parameter(graph, beta2_, "beta2");
  epsilon_tensor_ = parameter(graph, epsilon_, "epsilon");
}

Operation AdamRelative::apply_dense(const Output& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  NodeBuilder node(apply_name(kind_ == Kind::AdaMax ? "AdaMax" : "Adam", variable, false));
  node.input(variable.handle()).input(slot(variable, "m").handle()).input(slot(variable, "v").handle());
  node.input(cast(beta1_power_, dtype));
  if (kind_ != Kind::AdaMax) node.input(cast(beta2_power_, dtype));
  node.input(cast(learning_rate_tensor_, dtype))
      .input(cast(beta1_tensor_, dtype))
      .input(cast(beta2_tensor_, dtype))
      .input(cast(epsilon_tensor_, dtype))
      .input(grad)
      .attr("use_locking", use_locking());
  if (kind_ == Kind::Nadam) node.attr("use_nesterov", true);
  return node.build();
}

Operation AdamRelative::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  Graph& graph = variable.graph();
  const DType dtype = variable.dtype();
  Variable first = slot(variable, "m"), second = slot(variable, "v");
  Output beta1 = cast(beta1_tensor_, dtype), beta2 = cast(beta2_tensor_, dtype), epsilon = cast(epsilon_tensor_, dtype);
  Output rate = cast(learning_rate_tensor_, dtype) / (1 - cast(beta1_power_, dtype));
  if (kind_ != Kind::AdaMax) rate = rate * sqrt(1 - cast(beta2_power_, dtype));
  const Output &rows = grad.values, &indices = grad.indices;
  if (kind_ == Kind::Nadam) {
    // As Adam has it: the moments of all rows decay.
    auto decayed_sum = [&](const Variable& moment, const Output& decay, const Output& more) {
      Output decayed = assign(moment, moment * decay, {.use_locking = use_locking()});
      Scope after = graph.control_dependencies({decayed.op()});
      return scatter_add(moment, indices, more);
    };
    Output part = rows * (1 - beta1);
    Output m = decayed_sum(first, beta1, part), v = decayed_sum(second, beta2, rows * rows * (1 - beta2));
    Output ahead = part + beta1 * gather(m, indices);
    Output update = scatter_sub(variable, indices, rate * ahead / (sqrt(gather(v, indices)) + epsilon));
    return graph.group(std::vector<Operation>{update.op(), m.op(), v.op()});
  }
  Output m = beta1 * gather(first, indices) + (1 - beta1) * rows;
  Output old = gather(second, indices);
  Output v = kind_ == Kind::AdaMax ? maximum(old * beta2, abs(rows)) : beta2 * old + (1 - beta2) * square(rows);
  Output size = kind_ == Kind::AdaMax ? v : sqrt(v);
  Output update = scatter_sub(variable, indices, rate * m / (size + epsilon));
  Output m_update = scatter_update(first, indices, m), v_update = scatter_update(second, indices, v);
  return graph.group(std::vector<Operation>{update.op(), m_update.op(), v_update.op()});
}

Operation AdamRelative::finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) {
  std::vector<Operation> all = updates;
  {
    Scope after = graph.control_dependencies(updates);
    Scope beside = graph.colocate_with(beta1_power_.handle().op());
    all.push_back(assign(beta1_power_, beta1_power_ * beta1_tensor_, {.use_locking = use_locking()}).op());
    if (kind_ != Kind::AdaMax) {
      all.push_back(assign(beta2_power_, beta2_power_ * beta2_tensor_, {.use_locking = use_locking()}).op());
    }
  }
  return graph.group(all, name);
}

}  // namespace weir::train
