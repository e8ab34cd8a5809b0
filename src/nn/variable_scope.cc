#include "weir/variable_scope.h"

#include <map>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "weir/ops.h"

namespace weir {

struct VariableScope::State {
  std::string name, original_name_scope;
  Reuse reuse = false;
  Initializer initializer;
  Regularizer regularizer;
  DType dtype = float32;
  bool use_resource = false;
};

// The variables of get_variable and the current scope of one graph.
struct VariableStore {
  struct Entry {
    Variable variable;
    SourceLine line;
  };
  std::map<std::string, Entry, std::less<>> variables;
  std::map<std::string, int, std::less<>> times_entered;  // scopes by name
  std::shared_ptr<VariableScope::State> current = std::make_shared<VariableScope::State>();

  bool entered(const std::string& name) const {
    auto it = times_entered.find(name);
    return it != times_entered.end() && it->second > 0;
  }
};

namespace {

VariableStore& store_of(Graph& graph) {
  auto& store = graph.impl().variable_store;
  if (!store) store = std::make_shared<VariableStore>();
  return *store;
}

std::string join(const std::string& scope, std::string_view name) {
  return scope.empty() ? std::string(name) : scope + "/" + std::string(name);
}

// `name`, numbered when a scope of that name has been entered inside the current one.
std::string unique_scope(const VariableStore& store, std::string_view name) {
  if (!store.entered(join(store.current->name, name))) return std::string(name);
  for (int i = 1;; ++i) {
    std::string numbered = fmt::format("{}_{}", name, i);
    if (!store.entered(join(store.current->name, numbered))) return numbered;
  }
}

const Variable& shared(const VariableStore::Entry& entry, const std::string& name, const Shape& shape, DType dtype,
                       bool may_share) {
  if (!may_share) {
    throw invalid_argument(
        "variable '{}' exists already and this scope does not share variables (reuse); it was made at {}:{}", name,
        entry.line.file, entry.line.line);
  }
  if (!shape.compatible(entry.variable.shape())) {
    throw invalid_argument("variable '{}' is asked for with shape {}; it was made with {} at {}:{}", name, shape.str(),
                           entry.variable.shape().str(), entry.line.file, entry.line.line);
  }
  if (dtype != entry.variable.dtype()) {
    throw invalid_argument("variable '{}' is asked for as {}; it was made as {} at {}:{}", name, dtype_name(dtype),
                           dtype_name(entry.variable.dtype()), entry.line.file, entry.line.line);
  }
  return entry.variable;
}

Initializer default_initializer(const std::string& name, DType dtype) {
  if (is_floating(dtype)) return glorot_uniform_initializer();
  if (is_integer(dtype) || dtype == DType::Bool) return zeros_initializer();
  throw invalid_argument("variable '{}' of type {} needs an initializer", name, dtype_name(dtype));
}

void add_regularization(Graph& graph, const Variable& variable, const std::string& name,
                        const Regularizer& regularizer) {
  Scope beside = graph.colocate_with(variable.handle().op());
  Scope scope = graph.name_scope(name + "/Regularizer/");
  Scope no_control = graph.clear_control_dependencies();
  if (Output loss = regularizer(variable.value())) graph.add_to_collection("regularization_losses", loss);
}

// Makes `state`, changed by the options, the current scope.
VariableScope enter(VariableStore& store, std::shared_ptr<VariableScope::State> state,
                    const VariableScopeOptions& options, std::vector<Scope> leave) {
  // Sharing passes on to inner scopes; they cannot switch it off.
  if (options.reuse && state->reuse.mode != Reuse::Mode::Share) state->reuse = *options.reuse;
  if (options.initializer) state->initializer = options.initializer;
  if (options.regularizer) state->regularizer = options.regularizer;
  if (options.dtype) state->dtype = *options.dtype;
  if (options.use_resource) state->use_resource = *options.use_resource;

  ++store.times_entered[state->name];
  leave.emplace_back("", [&store, previous = store.current, prefix = state->name + "/"] {
    store.current = previous;
    // Inner scopes are numbered anew when this one is entered again.
    for (auto it = store.times_entered.lower_bound(prefix);
         it != store.times_entered.end() && it->first.starts_with(prefix); ++it) {
      it->second = 0;
    }
  });
  store.current = state;
  return VariableScope(std::move(state), std::move(leave));
}

}  // namespace

VariableScope::VariableScope(std::shared_ptr<State> state, std::vector<Scope> leave)
    : state_(std::move(state)), leave_(std::move(leave)) {}
VariableScope::VariableScope(VariableScope&&) noexcept = default;
VariableScope::~VariableScope() {
  while (!leave_.empty()) leave_.pop_back();
}
const std::string& VariableScope::name() const { return state_->name; }
const std::string& VariableScope::original_name_scope() const { return state_->original_name_scope; }
bool VariableScope::reuse() const { return state_->reuse == Reuse(true); }
Reuse VariableScope::reuse_mode() const { return state_->reuse; }
DType VariableScope::dtype() const { return state_->dtype; }
bool VariableScope::use_resource() const { return state_->use_resource; }
void VariableScope::reuse_variables() { state_->reuse = true; }
void VariableScope::set_initializer(Initializer initializer) { state_->initializer = std::move(initializer); }
void VariableScope::set_regularizer(Regularizer regularizer) { state_->regularizer = std::move(regularizer); }
void VariableScope::set_dtype(DType dtype) { state_->dtype = dtype; }
void VariableScope::set_use_resource(bool use_resource) { state_->use_resource = use_resource; }
VariableScope VariableScope::handle() const { return VariableScope(state_, {}); }

VariableScope Graph::variable_scope() { return VariableScope(store_of(*this).current, {}); }

VariableScope Graph::variable_scope(std::string_view name) { return variable_scope(name, {}); }

VariableScope Graph::variable_scope(std::string_view name, const VariableScopeOptions& options) {
  VariableStore& store = store_of(*this);
  const VariableScope::State& outer = *store.current;
  std::string own_name = options.unique ? unique_scope(store, name) : std::string(name);
  std::vector<Scope> leave;
  leave.push_back(name_scope(options.unique ? name : own_name));

  auto state = std::make_shared<VariableScope::State>(outer);
  state->name = join(outer.name, own_name);
  state->original_name_scope = leave.back().name();
  return enter(store, std::move(state), options, std::move(leave));
}

VariableScope variable_scope(Graph& graph, const VariableScope& scope, const VariableScopeOptions& options) {
  std::vector<Scope> leave;
  const std::string& name = scope.name();
  if (!name.empty()) leave.push_back(graph.name_scope(name.substr(name.rfind('/') + 1)));
  return enter(store_of(graph), std::make_shared<VariableScope::State>(scope.state()), options, std::move(leave));
}

Variable Graph::get_variable(std::string_view name, const Shape& shape, Where where) {
  return get_variable(name, shape, {}, where);
}

Variable Graph::get_variable(std::string_view name, const Shape& shape, const GetVariableOptions& options,
                             Where where) {
  LineScope line(*this, source_line(where));
  VariableStore& store = store_of(*this);
  const VariableScope::State& scope = *store.current;
  const std::string full_name = scope.name.empty() ? std::string(name) : scope.name + "/" + std::string(name);

  Initializer initializer = options.initializer ? options.initializer : scope.initializer;
  DType dtype = options.dtype.value_or(scope.dtype);
  if (initializer.value() && !options.dtype) {
    const In& value = *initializer.value();
    if (value.output())
      dtype = value.output().dtype();
    else if (!value.weak())
      dtype = value.value().dtype();
  }
  if (auto found = store.variables.find(full_name); found != store.variables.end()) {
    return shared(found->second, full_name, shape, dtype, scope.reuse.mode != Reuse::Mode::Make);
  }
  if (scope.reuse.mode == Reuse::Mode::Share) {
    throw invalid_argument("variable '{}' does not exist and this scope only shares variables (reuse)", full_name);
  }
  if (!initializer) initializer = default_initializer(full_name, dtype);
  if (initializer.function() && !shape.is_known()) {
    throw invalid_argument("variable '{}' needs a fully known shape; it is {}", full_name, shape.str());
  }

  VariableOptions variable_options{.trainable = options.trainable,
                                   .collections = options.collections,
                                   .dtype = dtype,
                                   .use_resource = options.use_resource.value_or(scope.use_resource),
                                   .validate_shape = options.validate_shape};
  Scope root = name_scope("");
  Variable made =
      initializer.function()
          ? make_variable(
                *this, full_name, true, [&] { return initializer.function()(*this, shape, dtype); }, variable_options)
          : variable(full_name, *initializer.value(), variable_options);
  store.variables.emplace(full_name, VariableStore::Entry{made, made.handle().op().line()});
  const Regularizer& regularizer = options.regularizer ? options.regularizer : scope.regularizer;
  if (regularizer) add_regularization(*this, made, full_name, regularizer);
  return made;
}

}  // namespace weir
