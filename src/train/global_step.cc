#include "weir/global_step.h"

#include <algorithm>
#include <any>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/index_ops.h"
#include "weir/initializers.h"
#include "weir/ops.h"
#include "weir/state_ops.h"
#include "weir/variable_scope.h"

namespace weir {
namespace {

constexpr std::string_view kGlobalStep = "global_step";

std::vector<Variable> local_variables(const Graph& graph) {
  std::vector<Variable> variables;
  for (const std::any& item : graph.collection("local_variables")) {
    if (const auto* variable = std::any_cast<Variable>(&item)) variables.push_back(*variable);
  }
  return variables;
}

const Variable& checked_step(const Variable& step) {
  if (!is_integer(step.dtype())) {
    throw wrong_type("Existing \"global_step\" does not have integer type: {}", dtype_name(step.dtype()));
  }
  if (step.shape().has_rank() && step.shape().rank() != 0) {
    throw wrong_type("Existing \"global_step\" is not scalar: {}", step.shape().str());
  }
  return step;
}

}  // namespace

namespace train {

Variable get_global_step(const Graph& graph) {
  const std::vector<std::any>& found = graph.collection(kGlobalStep);
  if (found.size() > 1) throw wrong_type("Multiple tensors in global_step collection.");
  if (found.size() == 1) {
    if (const auto* variable = std::any_cast<Variable>(&found[0])) return checked_step(*variable);
  }
  for (const Variable& variable : graph.global_variables()) {
    if (variable.name() == kGlobalStep) return checked_step(variable);
  }
  return {};
}

Variable create_global_step(Graph& graph, Graph::Where where) {
  LineScope line(graph, source_line(where));
  if (get_global_step(graph)) throw invalid_argument("\"global_step\" already exists.");
  auto scope = graph.name_scope("");
  return graph.get_variable(kGlobalStep, Shape{},
                            {.initializer = zeros_initializer(),
                             .dtype = int64,
                             .trainable = false,
                             .collections = {"variables", std::string(kGlobalStep)}},
                            where);
}

Variable get_or_create_global_step(Graph& graph, Graph::Where where) {
  Variable step = get_global_step(graph);
  return step ? step : create_global_step(graph, where);
}

}  // namespace train

Operation local_variables_initializer(Graph& graph, std::string_view name, Graph::Where where) {
  std::vector<Operation> initializers;
  for (const Variable& variable : local_variables(graph)) initializers.push_back(variable.initializer());
  return graph.group(initializers, name, where);
}

Operation tables_initializer(Graph& graph, std::string_view name, Graph::Where where) {
  std::vector<Operation> initializers;
  for (const std::any& item : graph.collection("table_initializer")) {
    if (const auto* operation = std::any_cast<Operation>(&item)) initializers.push_back(*operation);
    if (const auto* output = std::any_cast<Output>(&item)) initializers.push_back(output->op());
  }
  return graph.group(initializers, name, where);
}

Output report_uninitialized_variables(Graph& graph, std::string_view name, Graph::Where where) {
  std::vector<Variable> variables = graph.global_variables();
  std::ranges::copy(local_variables(graph), std::back_inserter(variables));
  return report_uninitialized_variables(graph, variables, name, where);
}

Output report_uninitialized_variables(Graph& graph, const std::vector<Variable>& variables, std::string_view name,
                                      Graph::Where where) {
  LineScope line(graph, source_line(where));
  auto scope = graph.name_scope(name);
  if (variables.empty()) return graph.constant(Tensor(DType::String, {0}));
  std::vector<Output> initialized;
  Tensor names(DType::String, {static_cast<int64_t>(variables.size())});
  for (size_t i = 0; i < variables.size(); ++i) {
    initialized.push_back(is_variable_initialized(variables[i]));
    names.mutable_data<std::string>()[i] = variables[i].name();
  }
  return boolean_mask(graph.constant(names), logical_not(stack(initialized)));
}

}  // namespace weir
