#include "weir/towers.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

namespace weir::train {
namespace {

// Sparse gradients stay sparse: the rows of all towers, each with its share.
Gradient mean(const std::vector<Gradient>& grads) {
  const auto towers = static_cast<double>(grads.size());
  if (grads.size() == 1) return grads[0];
  if (std::ranges::all_of(grads, &Gradient::sparse)) {
    std::vector<Output> values, indices;
    for (const Gradient& grad : grads) {
      values.push_back(grad.slices().values);
      indices.push_back(grad.slices().indices);
    }
    return IndexedSlices{concat(values, 0) / towers, concat(indices, 0), grads[0].slices().dense_shape};
  }
  std::vector<Output> dense(grads.size());
  std::ranges::transform(grads, dense.begin(), &Gradient::dense);
  return add_n(dense) / towers;
}

// Sends the variables that the scopes inside it do not place to `device`; "" leaves them alone.
Scope variables_on(Graph& graph, const std::string& device) {
  return graph.device([device](const NodeArgs& node) {
    const Op* op = find_op(node.op);
    const bool variable = op && op->role == Role::Variable;
    return variable && node.device.empty() ? device : node.device;
  });
}

}  // namespace

GradsAndVars average_gradients(const std::vector<GradsAndVars>& towers) {
  if (towers.empty()) throw invalid_argument("there are no towers");
  GradsAndVars average;
  for (size_t i = 0; i < towers[0].size(); ++i) {
    const Variable& variable = towers[0][i].second;
    std::vector<Gradient> grads;
    for (const GradsAndVars& tower : towers) {
      if (tower.size() != towers[0].size() || tower[i].second.handle() != variable.handle()) {
        throw invalid_argument("the towers' lists of variables differ at place {}", i);
      }
      if (tower[i].first) grads.push_back(tower[i].first);
    }
    average.emplace_back(grads.size() == towers.size() ? mean(grads) : Gradient(), variable);
  }
  return average;
}

Towers towers(Graph& graph, Optimizer& optimizer, const std::vector<std::string>& devices, const TowerModel& model,
              const TowersOptions& options, In::Where where) {
  if (devices.empty()) throw invalid_argument("there are no devices for towers");
  LineScope line(graph, source_line(where));
  Towers result;
  std::vector<GradsAndVars> gradients;
  {
    VariableScope shared = variable_scope(graph, graph.variable_scope());
    std::optional<size_t> variables;
    for (size_t i = 0; i < devices.size(); ++i) {
      Scope device = graph.device(devices[i]);
      Scope variable_device = variables_on(graph, options.variable_device);
      Scope scope = graph.name_scope(fmt::format("{}_{}", options.scope, i));
      Output loss = model({.graph = graph, .index = i, .device = devices[i], .scope = scope.name()});
      if (!loss) throw invalid_argument("the model of tower {} gives no loss", i);
      // Variables that a tower makes for itself would be trained by its part of the batch alone, and unnoticed.
      const size_t count = graph.trainable_variables().size();
      if (count != variables.value_or(count)) {
        throw invalid_argument("tower {} makes variables that the first does not have: '{}'; get_variable shares", i,
                               graph.trainable_variables().back().name());
      }
      variables = count;
      shared.reuse_variables();
      result.losses.push_back(loss);
      gradients.push_back(optimizer.compute_gradients(loss, {.var_list = options.var_list}, where));
    }
  }
  {
    Scope device = graph.device(options.variable_device);
    Scope scope = graph.name_scope("average_gradients");
    const auto count = static_cast<double>(devices.size());
    result.loss = devices.size() == 1 ? result.losses[0] : add_n(result.losses) / count;
    result.gradients = average_gradients(gradients);
  }
  result.train =
      optimizer.apply_gradients(result.gradients, {.global_step = options.global_step, .name = options.name}, where);
  return result;
}

}  // namespace weir::train
