#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "nn/convert.h"
#include "train/slots.h"
#include "weir/ops.h"
#include "weir/partitioned_variable.h"
#include "weir/train.h"

namespace weir::train {
namespace {

// A slot of a part of a partitioned variable is saved as the same part of a tensor. TensorFlow takes what follows the
// length of the variable's name for the slot's own name, even where a scope stands before it; checkpoints hold what
// comes of that.
void save_as_slice(const Variable& slot, const Variable& variable) {
  std::optional<SaveSliceInfo> info = save_slice_info(variable);
  if (!info) return;
  info->full_name += "/" + slot.name().substr(std::min(variable.name().size() + 1, slot.name().size()));
  set_save_slice_info(slot, *info);
}

}  // namespace

Optimizer::~Optimizer() = default;

Operation Optimizer::minimize(const Output& loss, const MinimizeOptions& options, In::Where where) {
  GradsAndVars grads_and_vars = compute_gradients(loss,
                                                  {.var_list = options.var_list,
                                                   .grad_loss = options.grad_loss,
                                                   .colocate_gradients_with_ops = options.colocate_gradients_with_ops,
                                                   .gate_gradients = options.gate_gradients},
                                                  where);
  return apply_gradients(grads_and_vars, {.global_step = options.global_step, .name = options.name}, where);
}

GradsAndVars Optimizer::compute_gradients(const Output& loss, const ComputeGradientsOptions& options, In::Where where) {
  std::vector<Variable> variables = options.var_list.empty() ? loss.graph().trainable_variables() : options.var_list;
  if (variables.empty()) throw invalid_argument("there are no variables to optimize");
  std::vector<Output> xs;
  for (const Variable& variable : variables) xs.push_back(variable.handle());
  GradientsOptions gradients_options{.colocate_with_ops = options.colocate_gradients_with_ops,
                                     .gate_gradients = options.gate_gradients == GateGradients::Op};
  if (options.grad_loss) gradients_options.grad_ys = {*options.grad_loss};
  std::vector<Gradient> grads = gradients({loss}, xs, gradients_options, where);
  if (options.gate_gradients == GateGradients::Graph) grads = tuple(grads, {}, {}, where);
  GradsAndVars result;
  for (size_t i = 0; i < variables.size(); ++i) result.emplace_back(grads[i], variables[i]);
  return result;
}

Operation Optimizer::apply_gradients(const GradsAndVars& grads_and_vars, const ApplyGradientsOptions& options,
                                     In::Where where) {
  std::vector<Variable> variables;
  for (const auto& [grad, variable] : grads_and_vars) {
    if (grad) variables.push_back(variable);
  }
  if (variables.empty()) {
    std::string names;
    for (const auto& [grad, variable] : grads_and_vars) names += (names.empty() ? "" : ", ") + variable.name();
    throw invalid_argument("there is no gradient for any variable: {}", names);
  }
  Graph& graph = variables[0].graph();
  LineScope line(graph, source_line(where));
  {
    Scope no_control = graph.clear_control_dependencies();
    create_slots(variables);
  }
  Scope scope = graph.name_scope(options.name.empty() ? name_ : options.name);
  prepare(graph);
  std::vector<Operation> updates;
  for (const auto& [grad, variable] : grads_and_vars) {
    if (!grad) continue;
    Scope update_scope = graph.name_scope("update_" + variable.name());
    Scope beside = graph.colocate_with(variable.handle().op());
    Operation update =
        grad.sparse() ? apply_sparse_duplicate_indices(grad.slices(), variable) : apply_dense(grad.dense(), variable);
    if (Constraint constraint = constraint_of(variable)) {
      if (grad.sparse()) {
        throw invalid_argument("Cannot use a constraint function on a sparse variable: '{}'", variable.name());
      }
      Scope after = graph.control_dependencies({update});
      update = assign(variable, constraint(read_variable(variable))).op();
    }
    updates.push_back(options.after_update ? options.after_update(variable, grad, update) : update);
  }

  Operation train;
  if (!options.global_step) {
    train = finish(graph, updates, scope.name());
  } else {
    const Variable& step = *options.global_step;
    Scope after = graph.control_dependencies({finish(graph, updates, "update")});
    Scope beside = graph.colocate_with(step.handle().op());
    NodeBuilder count(step.is_resource() ? "AssignAddVariableOp" : "AssignAdd", scope.name());
    train = count.input(step.handle()).input(graph.constant(Literal(1), step.dtype(), "value")).build();
  }
  graph.add_to_collection("train_op", train);
  return train;
}

void Optimizer::create_slots(const std::vector<Variable>&) {}

Operation Optimizer::apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable) {
  Operation unique = NodeBuilder("Unique").input(grad.indices).build();
  Output rows = subscript(shape(unique.output(0)), {0});
  Output sums = unsorted_segment_sum(grad.values, unique.output(1), rows);
  return apply_sparse({sums, unique.output(0), grad.dense_shape}, variable);
}

Operation Optimizer::apply_sparse(const IndexedSlices&, const Variable& variable) {
  throw error(Code::Unimplemented, "{} cannot apply a sparse gradient to '{}'", name_, variable.name());
}

Operation Optimizer::finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) {
  return graph.group(updates, name);
}

Variable Optimizer::slot(const Variable& variable, std::string_view slot_name) const {
  auto it = slots_.find({std::string(slot_name), variable.handle().node()});
  return it == slots_.end() ? Variable() : it->second;
}

std::vector<std::string> Optimizer::slot_names() const {
  std::vector<std::string> names;
  for (const auto& [key, variable] : slots_) {
    if (names.empty() || names.back() != key.first) names.push_back(key.first);  // keys are sorted by slot
  }
  return names;
}

Variable Optimizer::non_slot(const std::string& name, const Graph& graph) const {
  auto it = non_slots_.find({name, &graph});
  return it == non_slots_.end() ? Variable() : it->second;
}

Variable Optimizer::make_slot(const Variable& variable, std::string_view slot_name, const Initializer& initializer,
                              std::string_view name) {
  Variable& slot = slots_[{std::string(slot_name), variable.handle().node()}];
  if (slot) return slot;
  Graph& graph = variable.graph();
  if (!variable.shape().is_known()) {
    throw invalid_argument("variable '{}' has shape {}; {} needs to know it", variable.name(), variable.shape().str(),
                           name_);
  }
  // Slots of one optimizer are told apart by numbers: "W/Adam", "W/Adam_1". Where the enclosing scope shares variables,
  // optimizers share their slots; those that are not there are made even so.
  VariableScope scope =
      graph.variable_scope(variable.name() + "/" + (name.empty() ? name_ : std::string(name)), {.unique = true});
  slot = shared_slot(graph, scope);
  if (slot) {
    if (slot.shape() != variable.shape() || slot.dtype() != variable.dtype()) {
      throw invalid_argument("slot '{}' is shared (reuse), but has type {} and shape {}; '{}' has type {} and shape {}",
                             slot.name(), dtype_name(slot.dtype()), slot.shape().str(), variable.name(),
                             dtype_name(variable.dtype()), variable.shape().str());
    }
    variables_.push_back(slot);
    return slot;
  }
  Scope beside = graph.colocate_with(variable.handle().op());
  const bool given = initializer.value().has_value();
  auto initial_value = [&] {
    return given ? initializer.value()->output() : initializer(graph, variable.shape(), variable.dtype());
  };
  slot = make_variable(graph, scope.name() + "/", !given, initial_value,
                       {.trainable = false, .use_resource = variable.is_resource()});
  save_as_slice(slot, variable);
  variables_.push_back(slot);
  return slot;
}

Variable Optimizer::non_slot_variable(const In& initial_value, const std::string& name, const Variable& colocate_with) {
  Graph& graph = colocate_with.graph();
  Variable& variable = non_slots_[{name, &graph}];
  if (variable) return variable;
  Scope beside = graph.colocate_with(colocate_with.handle().op());
  variable = graph.variable(name, initial_value, {.trainable = false, .use_resource = colocate_with.is_resource()});
  variables_.push_back(variable);
  return variable;
}

Output Optimizer::parameter(Graph& graph, const In& value, std::string_view name) {
  return nn::as_output(graph, value, float32, name);
}

}  // namespace weir::train
