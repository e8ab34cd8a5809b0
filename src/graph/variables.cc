#include "graph/variables.h"

#include <algorithm>
#include <optional>

#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {
namespace {

constexpr std::string_view kGlobalVariables = "variables";
constexpr std::string_view kTrainableVariables = "trainable_variables";

std::vector<Variable> variables_in(const Graph& graph, std::string_view collection) {
  std::vector<Variable> variables;
  for (const std::any& item : graph.collection(collection)) {
    if (const auto* variable = std::any_cast<Variable>(&item)) variables.push_back(*variable);
  }
  return variables;
}

// Nodes made meanwhile stand beside a variable that does not exist yet.
class BesideVariable {
 public:
  BesideVariable(Graph& graph, std::string name)
      : slot_(graph.impl().scopes.beside), saved_(std::exchange(slot_, std::move(name))) {}
  ~BesideVariable() { slot_ = std::move(saved_); }
  BesideVariable(const BesideVariable&) = delete;
  BesideVariable& operator=(const BesideVariable&) = delete;

 private:
  std::string& slot_;
  std::string saved_;
};

Variable ref_variable(Graph& graph, const Output& value, Output ref, bool validate_shape,
                      const std::string& caching_device) {
  Operation assign = NodeBuilder("Assign").input(ref).input(value).attr("validate_shape", validate_shape).build();
  Scope place = caching_device.empty() ? graph.colocate_with(ref.op()) : graph.device(caching_device);
  return Variable(ref, NodeBuilder("Identity", "read").input(ref).output(), assign, value);
}

Variable resource_variable(Graph& graph, const Output& value, Output handle, const Shape& shape) {
  {
    Scope scope = graph.name_scope("IsInitialized");
    NodeBuilder("VarIsInitializedOp").input(handle).build();
  }
  Operation assign =
      NodeBuilder("AssignVariableOp", "Assign").input(handle).input(value).attr("dtype", value.dtype()).build();
  Scope scope = graph.name_scope("Read");
  Output read = NodeBuilder("ReadVariableOp").input(handle).attr("dtype", value.dtype()).output();
  read.set_shape(shape);
  return Variable(handle, read, assign, value);
}

}  // namespace

Variable make_variable(Graph& graph, std::string_view name, bool in_initializer,
                       const std::function<Output()>& initial_value, const VariableOptions& options,
                       const std::string& caching_device) {
  // A variable made inside a loop of dependencies is initialised before any of them.
  Scope no_control = graph.clear_control_dependencies();
  Scope scope = graph.name_scope(name.empty() ? "Variable" : name);
  const std::string full_name = scope.name().substr(0, scope.name().size() - 1);
  in_initializer |= options.use_resource;

  Output value, handle;
  Shape shape = Shape::unknown();
  {
    std::optional<BesideVariable> beside;
    if (in_initializer) beside.emplace(graph, full_name);
    {
      std::optional<Scope> inner, any_device;
      if (in_initializer) {
        inner.emplace(graph.name_scope("Initializer"));
        any_device.emplace(graph.device(""));
      }
      value = initial_value();
    }
    if (options.validate_shape) {
      shape = value.shape();
      if (!shape.is_known() && !options.use_resource) {  // a handle may refer to values of several shapes
        throw invalid_argument("the shape of the initial value of variable '{}' is {}; it must be known", full_name,
                               shape.str());
      }
    }
    AttrMap attrs{{"shape", shape}, {"dtype", value.dtype()}};
    if (options.use_resource) attrs.set("shared_name", full_name);
    handle = graph
                 .add({.op = options.use_resource ? "VarHandleOp" : "VariableV2",
                       .name = full_name,
                       .exact_name = true,
                       .attrs = std::move(attrs)})
                 .output();
  }
  Variable variable = options.use_resource ? resource_variable(graph, value, handle, shape)
                                           : ref_variable(graph, value, handle, options.validate_shape, caching_device);

  std::vector<std::string> collections = options.collections;
  if (collections.empty()) collections.emplace_back(kGlobalVariables);
  bool listed = std::find(collections.begin(), collections.end(), kTrainableVariables) != collections.end();
  if (options.trainable && !listed) collections.emplace_back(kTrainableVariables);
  for (const std::string& collection : collections) {
    if (!collection.empty()) graph.add_to_collection(collection, variable);
  }
  return variable;
}

Variable make_variable(Graph& graph, std::string_view name, const In& initial_value, const VariableOptions& options,
                       const std::string& caching_device) {
  auto value = [&]() -> Output {
    if (Output output = initial_value.output()) {
      if (options.dtype != DType::Invalid && output.dtype() != options.dtype) {
        throw invalid_argument("variable '{}' is to be {}; its initial value '{}' is {}", name,
                               dtype_name(options.dtype), output.name(), dtype_name(output.dtype()));
      }
      return output;
    }
    Tensor constant_value = initial_value.value();
    DType dtype = options.dtype;
    if (initial_value.weak()) {
      constant_value =
          convert_literal(constant_value, dtype == DType::Invalid ? default_literal_type(constant_value) : dtype);
    } else if (dtype != DType::Invalid && constant_value.dtype() != dtype) {
      throw invalid_argument("variable '{}' is to be {}; its initial value is {}", name, dtype_name(dtype),
                             dtype_name(constant_value.dtype()));
    }
    return graph.constant(constant_value, "initial_value");
  };
  return make_variable(graph, name, false, value, options, caching_device);
}

Variable Graph::variable(std::string_view name, const In& initial_value, const VariableOptions& options) {
  LineScope line(*this, source_line(initial_value.where()));
  return make_variable(*this, name, initial_value, options);
}

std::vector<Variable> Graph::global_variables() const { return variables_in(*this, kGlobalVariables); }

std::vector<Variable> Graph::trainable_variables() const { return variables_in(*this, kTrainableVariables); }

Operation Graph::global_variables_initializer(std::string_view name, Where where) {
  std::vector<Operation> initializers;
  for (const Variable& variable : global_variables()) initializers.push_back(variable.initializer());
  return group(initializers, name, where);
}

Output value_here(const Variable& variable) {
  if (!variable || !variable.is_resource()) return variable.value();
  const auto& scopes = variable.graph().impl().scopes.control;
  const bool ordered =
      std::any_of(scopes.begin(), scopes.end(), [](const ControlScope& scope) { return !scope.operations.empty(); });
  if (!ordered) return variable.value();
  return NodeBuilder("ReadVariableOp").input(variable.handle()).attr("dtype", variable.dtype()).output();
}

}  // namespace weir
