#include "weir/regularizers.h"

#include "base/errors.h"
#include "weir/ops.h"

namespace weir {
namespace {

using Penalty = Output (*)(const Output& weights);

Regularizer scaled(float scale, const char* scope_name, Penalty penalty) {
  if (!(scale >= 0)) throw invalid_argument("Setting a scale less than 0 on a regularizer: {}.", scale);
  return [=](const Output& weights) {
    if (scale == 0) return Output();
    Scope scope = weights.graph().name_scope(scope_name);
    Output my_scale = weights.graph().constant(scale, weights.dtype(), "scale");
    return multiply(my_scale, penalty(weights), scope.name());
  };
}

Regularizer sum_of(std::vector<Regularizer> regularizers, const char* scope_name) {
  return [regularizers = std::move(regularizers), scope_name](const Output& weights) {
    Scope scope = weights.graph().name_scope(scope_name);
    std::vector<Output> terms;
    for (const Regularizer& regularizer : regularizers) {
      if (Output term = regularizer(weights)) terms.push_back(term);
    }
    return terms.empty() ? Output() : terms.size() == 1 ? terms[0] : add_n(terms, scope.name());
  };
}

}  // namespace

Regularizer l1_regularizer(float scale) {
  return scaled(scale, "l1_regularizer", [](const Output& weights) { return reduce_sum(abs(weights)); });
}

Regularizer l2_regularizer(float scale) {
  return scaled(scale, "l2_regularizer", [](const Output& weights) { return nn::l2_loss(weights); });
}

Regularizer l1_l2_regularizer(float scale_l1, float scale_l2) {
  return sum_of({l1_regularizer(scale_l1), l2_regularizer(scale_l2)}, "l1_l2_regularizer");
}

Regularizer sum_regularizer(std::vector<Regularizer> regularizers) {
  std::erase_if(regularizers, [](const Regularizer& regularizer) { return !regularizer; });
  if (regularizers.empty()) return {};
  return sum_of(std::move(regularizers), "sum_regularizer");
}

Output apply_regularization(const Regularizer& regularizer, const std::vector<Output>& weights) {
  if (weights.empty()) throw invalid_argument("No weights to regularize.");
  Graph& graph = weights[0].graph();
  Scope scope = graph.name_scope("get_regularization_penalty");
  std::vector<Output> penalties;
  for (const Output& w : weights) {
    if (Output penalty = regularizer(w)) penalties.push_back(penalty);
  }
  if (penalties.empty()) penalties.push_back(graph.constant(Literal(0.0), float32));
  Output total = add_n(penalties, scope.name());
  graph.add_to_collection("regularization_losses", total);
  return total;
}

}  // namespace weir
