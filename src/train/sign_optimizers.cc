#include <cmath>

#include "base/errors.h"
#include "train/slots.h"
#include "weir/contrib_optimizers.h"
#include "weir/ops.h"

namespace weir::train {

SignOptimizer::SignOptimizer(std::string_view rule, const In& learning_rate, const In& factor, const In& beta,
                             const In& sign_decay, std::string_view factor_name, std::string_view name)
    : Optimizer(name),
      rule_(rule),
      adds_(rule == "AddSign"),
      factor_name_(factor_name),
      learning_rate_(learning_rate),
      factor_(factor),
      beta_(beta),
      sign_decay_(sign_decay) {}

AddSign::AddSign(const In& learning_rate, const AddSignOptions& options)
    : SignOptimizer("AddSign", learning_rate, options.alpha, options.beta, options.sign_decay, "alpha", options.name) {}

PowerSign::PowerSign(const In& learning_rate, const PowerSignOptions& options)
    : SignOptimizer("PowerSign", learning_rate, std::log(options.base), options.beta, options.sign_decay, "logbase",
                    options.name) {
  if (!(options.base > 0)) throw invalid_argument("base must be positive; it is {}", options.base);
}

void SignOptimizer::create_slots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) make_slot(variable, "m", zeros_initializer());
}

void SignOptimizer::prepare(Graph& graph) {
  learning_rate_tensor_ = parameter(graph, learning_rate_, "learning_rate");
  beta_tensor_ = parameter(graph, beta_, "beta");
  factor_tensor_ = parameter(graph, factor_, factor_name_);
  sign_decay_tensor_ = parameter(graph, sign_decay_, "sign_decay");
}

Operation SignOptimizer::apply_dense(const Output& grad, const Variable& variable) {
  const DType dtype = variable.dtype();
  return NodeBuilder(apply_name(rule_, variable, false))
      .input(variable.handle())
      .input(slot(variable, "m").handle())
      .input(cast(learning_rate_tensor_, dtype))
      .input(cast(factor_tensor_, dtype))
      .input(cast(sign_decay_tensor_, dtype))
      .input(cast(beta_tensor_, dtype))
      .input(grad)
      .attr("use_locking", use_locking())
      .build();
}

// The average of rows without a gradient decays too.
Operation SignOptimizer::apply_sparse(const IndexedSlices& grad, const Variable& variable) {
  Graph& graph = variable.graph();
  const DType dtype = variable.dtype();
  Variable average = slot(variable, "m");
  Output beta = cast(beta_tensor_, dtype), rate = cast(learning_rate_tensor_, dtype);
  Output factor = cast(factor_tensor_, dtype), decay = cast(sign_decay_tensor_, dtype);
  Output decayed = assign(average, average * beta, {.use_locking = use_locking()});
  Output m;
  {
    Scope after = graph.control_dependencies({decayed.op()});
    m = scatter_add(average, grad.indices, grad.values * (1 - beta));
  }
  Output agreement = decay * (sign(gather(m, grad.indices)) * sign(grad.values));
  Output scale = adds_ ? factor + agreement : exp(factor * agreement);
  Output update = scatter_sub(variable, grad.indices, rate * scale * grad.values);
  return graph.group(std::vector<Operation>{update.op(), m.op()});
}

}  // namespace weir::train
