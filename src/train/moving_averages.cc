#include "weir/moving_averages.h"

#include <optional>
#include <set>

#include "graph/variables.h"
#include "nn/convert.h"
#include "train/slots.h"
#include "weir/control_flow.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

namespace weir::train {
namespace {

constexpr std::string_view kMovingAverageVariables = "moving_average_variables";

// "biased", or "biased_1" where the variable has a corrected average already; where variables are shared, that one is.
std::string unused_name(const Graph& g, const VariableScope& scope, const std::string& name) {
  std::string candidate = name;
  for (int i = 1; !scope.reuse() && g.find(scope.name() + "/" + candidate); ++i) candidate = name + "_" + std::to_string(i);
  return candidate;
}

Output debiased_update(const Variable& variable, const In& value, const Output& decay, const std::string& name) {
  Graph& g = variable.graph();
  Variable biased, local_step;
  {
    VariableScope scope = g.variable_scope(variable.name());
    Scope beside = g.colocate_with(variable.handle().op());
    GetVariableOptions options{.initializer = zeros_initializer(),
                               .dtype = variable.dtype(),
                               .trainable = false,
                               .use_resource = variable.is_resource()};
    biased = g.get_variable(unused_name(g, scope, "biased"), variable.shape(), options);
    local_step = g.get_variable(unused_name(g, scope, "local_step"), Shape{}, options);
  }
  Scope beside = g.colocate_with(variable.handle().op());
  Output sum = assign_sub(biased, (biased - value) * decay);
  Output steps = assign_add(local_step, 1);
  Output kept = 1.0 - decay;
  Output factor = 1 - pow(kept, steps);
  return assign(variable, sum / factor, {}, name);
}

// What the variable holds when it has a value, as after a restore; else what it is about to be given.
Output initialized_value(const Variable& v) {
  return cond(
      is_variable_initialized(v),
      [&] {
        if (!v.is_resource()) return identity(v.handle(), "read");
        return NodeBuilder("ReadVariableOp").input(v.handle()).attr("dtype", v.dtype()).output();
      },
      [&] { return v.initial_value(); });
}

}  // namespace

Output assign_moving_average(const Variable& variable, const In& value, const In& decay,
                             const MovingAverageOptions& options, std::string_view name) {
  Graph& g = variable.graph();
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "AssignMovingAvg" : name);
  Output rest = decay.output() ? 1.0 - decay
                               : g.constant(Literal(1 - convert_literal(decay.value(), float64).scalar<double>()),
                                            float32, "decay");
  rest = cast(rest, variable.dtype());
  if (options.zero_debias) return debiased_update(variable, value, rest, scope.name());
  Scope beside = g.colocate_with(variable.handle().op());
  Output difference = variable - value;
  return assign_sub(variable, difference * rest, scope.name());
}

ExponentialMovingAverage::ExponentialMovingAverage(const In& decay, const ExponentialMovingAverageOptions& options)
    : decay_(decay), options_(options) {}

ExponentialMovingAverage::Key ExponentialMovingAverage::key(const AveragedList::Item& item) {
  const Output& output = item.variable ? item.variable.handle() : item.value;
  return {output.node(), output.index()};
}

Variable ExponentialMovingAverage::make_average(const AveragedList::Item& item) const {
  Graph& g = item.value.graph();
  Scope no_control = g.clear_control_dependencies();
  const Output start = item.variable ? initialized_value(item.variable) : Output();
  const std::string& owner = item.variable ? item.variable.name() : item.value.op().name();
  VariableScope scope = g.variable_scope(owner + "/" + options_.name, {.unique = true});
  if (Variable shared = shared_slot(g, scope)) return shared;
  if (item.variable) {
    Scope beside = g.colocate_with(item.variable.handle().op());
    return make_variable(g, scope.name() + "/", false, [&] { return start; },
                         {.trainable = false, .use_resource = item.variable.is_resource()});
  }
  if (!item.value.shape().is_known()) {
    throw invalid_argument("the shape of '{}' is {}; it must be known to keep an average", item.value.name(),
                           item.value.shape().str());
  }
  // A variable that is known by its reference alone is one all the same.
  std::optional<Scope> beside;
  if (item.value.node()->op->role == Role::Variable) beside.emplace(g.colocate_with(item.value.op()));
  return make_variable(g, scope.name() + "/", true,
                       [&] { return zeros_initializer()(g, item.value.shape(), item.value.dtype()); },
                       {.trainable = false});
}

Operation ExponentialMovingAverage::apply(const AveragedList& list, In::Where where) {
  if (list.items().empty()) throw invalid_argument("there is nothing to average");
  Graph& g = list.items()[0].value.graph();
  LineScope line(g, source_line(where));
  std::set<Key> debiased;
  for (const AveragedList::Item& item : list.items()) {
    if (!is_floating(item.value.dtype())) {
      throw invalid_argument("an average of '{}' cannot be kept: it is {}", item.value.name(),
                             dtype_name(item.value.dtype()));
    }
    if (averages_.contains(key(item))) continue;
    averages_[key(item)] = make_average(item);
    if (item.variable) {
      g.add_to_collection(kMovingAverageVariables, item.variable);
    } else if (options_.zero_debias) {
      debiased.insert(key(item));
    }
  }

  Scope scope = g.name_scope(options_.name);
  Output decay = nn::as_output(g, decay_, float32, "decay");
  if (options_.num_updates) {
    Output updates = options_.num_updates->output() ? cast(*options_.num_updates, float32, "num_updates")
                                                    : nn::as_output(g, *options_.num_updates, float32, "num_updates");
    Output numerator = 1.0 + updates;
    decay = minimum(decay, numerator / (10.0 + updates));
  }
  std::vector<Operation> updates;
  for (const AveragedList::Item& item : list.items()) {
    const bool zero_debias = debiased.contains(key(item));
    updates.push_back(
        assign_moving_average(averages_.at(key(item)), item.value, decay, {.zero_debias = zero_debias}).op());
  }
  return g.group(updates, scope.name());
}

Variable ExponentialMovingAverage::average(const AveragedList::Item& item) const {
  auto it = averages_.find(key(item));
  return it == averages_.end() ? Variable() : it->second;
}

std::string ExponentialMovingAverage::average_name(const AveragedList::Item& item) const {
  if (Variable made = average(item)) return made.name();
  const std::string& owner = item.variable ? item.variable.name() : item.value.op().name();
  return item.value.graph().unique_name(owner + "/" + options_.name, false);
}

std::map<std::string, Variable> ExponentialMovingAverage::variables_to_restore(const Graph& graph) const {
  std::vector<Variable> averaged = graph.trainable_variables();
  for (const std::any& item : graph.collection(kMovingAverageVariables)) {
    if (const auto* variable = std::any_cast<Variable>(&item)) averaged.push_back(*variable);
  }
  return variables_to_restore(graph, averaged);
}

std::map<std::string, Variable> ExponentialMovingAverage::variables_to_restore(
    const Graph& graph, const std::vector<Variable>& averaged) const {
  std::map<std::string, Variable> names;
  std::set<std::string> done;
  for (const Variable& variable : averaged) {
    names.insert_or_assign(average_name(variable), variable);
    done.insert(variable.name());
  }
  for (const Variable& variable : graph.global_variables()) {
    if (!done.contains(variable.name())) names.try_emplace(variable.name(), variable);
  }
  return names;
}

}  // namespace weir::train
