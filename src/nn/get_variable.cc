#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "nn/variable_store.h"
#include "weir/ops.h"

namespace weir {
namespace {

const Variable& shared(const VariableStore::Entry& entry, const std::string& name, const Shape& shape, DType dtype,
                       bool may_share) {
  if (!may_share) {
    throw invalid_argument(
        "Variable {} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope? "
        "Originally defined at:\n\n  File \"{}\", line {}\n",
        name, entry.line.file, entry.line.line);
  }
  if (!shape.compatible(entry.variable.shape())) {
    throw invalid_argument("Trying to share variable {}, but specified shape {} and found shape {}.", name,
                           python_text(shape), python_text(entry.variable.shape()));
  }
  if (dtype != entry.variable.dtype()) {
    throw invalid_argument("Trying to share variable {}, but specified dtype {} and found dtype {}.", name,
                           dtype_name(dtype), dtype_name(entry.variable.dtype()));
  }
  return entry.variable;
}

Initializer default_initializer(const std::string& name, DType dtype) {
  if (is_floating(dtype)) return glorot_uniform_initializer();
  if (is_integer(dtype) || dtype == DType::Bool || dtype == DType::String) return zeros_initializer();
  throw invalid_argument("An initializer for variable {} of {} is required", name, dtype_name(dtype));
}

void add_regularization(Graph& graph, const Variable& variable, const std::string& name,
                        const Regularizer& regularizer) {
  Scope beside = graph.colocate_with(variable.handle().op());
  Scope scope = graph.name_scope(name + "/Regularizer/");
  Scope no_control = graph.clear_control_dependencies();
  if (Output loss = regularizer(variable.value())) graph.add_to_collection("regularization_losses", loss);
}

DType type_of_variable(const GetVariableOptions& options) {
  const auto& value = options.initializer.value();
  if (options.dtype || !value) return options.dtype.value_or(float32);
  if (value->output()) return value->output().dtype();
  return value->weak() ? float32 : value->value().dtype();
}

}  // namespace

std::string python_text(const Shape& shape) {
  if (!shape.has_rank()) return "<unknown>";
  std::string text = "(";
  for (int d = 0; d < shape.rank(); ++d) {
    text += (d ? ", " : "") + (shape[d] == kUnknown ? std::string("?") : std::to_string(shape[d]));
  }
  return text + (shape.rank() == 1 ? ",)" : ")");
}

GetVariableOptions completed(const GetVariableOptions& given, const VariableScope::State& scope) {
  GetVariableOptions options = given;
  // A value says its own type, unless the program does.
  if (!options.dtype && options.initializer.value()) {
    const In& value = *options.initializer.value();
    if (value.output() || !value.weak()) options.dtype = type_of_variable(options);
  }
  if (!options.initializer) options.initializer = scope.initializer;
  if (!options.regularizer) options.regularizer = scope.regularizer;
  if (!options.constraint) options.constraint = scope.constraint;
  if (!options.caching_device) options.caching_device = scope.caching_device;
  if (!options.dtype) options.dtype = scope.dtype;
  if (!options.use_resource) options.use_resource = scope.use_resource;
  return options;
}

Variable get_variable_of_name(Graph& graph, const std::string& full_name, const Shape& shape,
                              const GetVariableOptions& options, Reuse reuse, const PartitionInfo* part) {
  VariableStore& store = store_of(graph);
  const DType dtype = type_of_variable(options);
  if (auto found = store.variables.find(full_name); found != store.variables.end()) {
    return shared(found->second, full_name, shape, dtype, reuse.mode != Reuse::Mode::Make);
  }
  if (reuse.mode == Reuse::Mode::Share) {
    throw invalid_argument(
        "Variable {} does not exist, or was not created with tf.get_variable(). Did you mean to set "
        "reuse=tf.AUTO_REUSE in VarScope?",
        full_name);
  }
  const Initializer initializer = options.initializer ? options.initializer : default_initializer(full_name, dtype);
  if (initializer.is_function() && !shape.is_known()) {
    throw invalid_argument("Shape of a new variable ({}) must be fully defined, but instead was {}.", full_name,
                           python_text(shape));
  }
  const VariableOptions variable_options{.trainable = options.trainable,
                                         .collections = options.collections,
                                         .dtype = dtype,
                                         .use_resource = options.use_resource.value_or(false),
                                         .validate_shape = options.validate_shape};
  const std::string caching_device = options.caching_device.value_or("");
  Scope root = graph.name_scope("");
  Variable made = initializer.is_function()
                      ? make_variable(
                            graph, full_name, true, [&] { return initializer(graph, shape, dtype, part); },
                            variable_options, caching_device)
                      : make_variable(graph, full_name, *initializer.value(), variable_options, caching_device);
  store.variables.emplace(full_name, VariableStore::Entry{made, made.handle().op().line()});
  if (options.constraint) store.constraints.emplace(made.handle().node(), options.constraint);
  if (options.regularizer) add_regularization(graph, made, full_name, options.regularizer);
  return made;
}

Variable Graph::get_variable(std::string_view name, const Shape& shape, Where where) {
  return get_variable(name, shape, {}, where);
}

Variable Graph::get_variable(std::string_view name, const Shape& shape, const GetVariableOptions& given, Where where) {
  LineScope line(*this, source_line(where));
  const std::shared_ptr<VariableScope::State> scope = store_of(*this).current;
  const GetVariableOptions options = completed(given, *scope);
  const std::string full_name = join_scope(scope->name, name);
  VariableGetter getter = [&](const std::string& n, const Shape& s, const GetVariableOptions& o) {
    return get_variable_of_name(*this, n, s, o, scope->reuse);
  };
  return scope->custom_getter ? scope->custom_getter(getter, full_name, shape, options)
                              : getter(full_name, shape, options);
}

Constraint constraint_of(const Variable& variable) {
  const VariableStore& store = store_of(variable.graph());
  auto found = store.constraints.find(variable.handle().node());
  return found == store.constraints.end() ? Constraint() : found->second;
}

}  // namespace weir
