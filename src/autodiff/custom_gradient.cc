#include "weir/custom_gradient.h"

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"

namespace weir {

void set_gradient(Graph& graph, const std::string& type, GradientFunction function) {
  graph.impl().gradients.rules[type] = [function = std::move(function)](GradContext& c) {
    std::vector<Output> output_grads;
    for (int i = 0; i < c.outputs(); ++i) {
      const DType dtype = c.output(i).dtype();
      const bool has_zeros = is_floating(dtype) || is_complex(dtype);
      output_grads.push_back(c.has_output_grad(i) || has_zeros ? c.output_grad(i) : Output());
    }
    std::vector<Gradient> input_grads = function(c.op(), output_grads);
    if (input_grads.size() != static_cast<size_t>(c.inputs())) {
      throw invalid_argument("the gradient function of '{}' gave {} gradients for {} inputs", c.op().name(),
                             input_grads.size(), c.inputs());
    }
    for (int i = 0; i < c.inputs(); ++i) c.set_input_grad(i, std::move(input_grads[static_cast<size_t>(i)]));
  };
}

GradientOverride::GradientOverride(Graph& graph, const std::map<std::string, std::string>& types)
    : graph_(graph), saved_(graph.impl().gradients.overrides) {
  for (const auto& [op, type] : types) graph.impl().gradients.overrides[op] = type;
}

GradientOverride::~GradientOverride() { graph_.impl().gradients.overrides = std::move(saved_); }

}  // namespace weir
