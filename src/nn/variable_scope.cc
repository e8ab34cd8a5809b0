#include "weir/variable_scope.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "nn/variable_store.h"

namespace weir {
namespace {

// `name`, numbered when a scope of that name has been entered inside the current one.
std::string unique_scope(const VariableStore& store, std::string_view name) {
  if (!store.entered(join_scope(store.current->name, name))) return std::string(name);
  for (int i = 1;; ++i) {
    std::string numbered = fmt::format("{}_{}", name, i);
    if (!store.entered(join_scope(store.current->name, numbered))) return numbered;
  }
}

CustomGetter nested(CustomGetter inner, CustomGetter outer) {
  if (!outer) return inner;
  return [inner = std::move(inner), outer = std::move(outer)](const VariableGetter& getter, const std::string& name,
                                                              const Shape& shape, const GetVariableOptions& options) {
    VariableGetter through = [&](const std::string& n, const Shape& s, const GetVariableOptions& o) {
      return outer(getter, n, s, o);
    };
    return inner(through, name, shape, options);
  };
}

void apply(const VariableScopeOptions& options, VariableScope::State& state) {
  // Sharing passes on to inner scopes; they cannot switch it off.
  if (options.reuse && options.reuse->mode != Reuse::Mode::Make) state.reuse = *options.reuse;
  if (options.initializer) state.initializer = options.initializer;
  if (options.regularizer) state.regularizer = options.regularizer;
  if (options.constraint) state.constraint = options.constraint;
  if (options.partitioner) state.partitioner = options.partitioner;
  if (options.custom_getter) state.custom_getter = nested(options.custom_getter, state.custom_getter);
  if (options.caching_device) state.caching_device = *options.caching_device;
  if (options.dtype) state.dtype = *options.dtype;
  if (options.use_resource) state.use_resource = *options.use_resource;
}

// Makes `state` the current scope; `leave` is called when it is left.
VariableScope enter(VariableStore& store, std::shared_ptr<VariableScope::State> state, std::vector<Scope> names,
                    std::function<void()> leave) {
  names.emplace_back("", [&store, previous = store.current, leave = std::move(leave)] {
    store.current = previous;
    leave();
  });
  store.current = state;
  return VariableScope(std::move(state), std::move(names));
}

Scope same_name_scope(Graph& graph) {
  const std::string& current = graph.current_name_scope();
  return graph.name_scope(current.empty() ? "" : current + "/");
}

}  // namespace

VariableStore& store_of(Graph& graph) {
  auto& store = graph.impl().variable_store;
  if (!store) store = std::make_shared<VariableStore>();
  return *store;
}

std::string join_scope(const std::string& scope, std::string_view name) {
  // An empty name is a scope too, as in TensorFlow: the only column of a contrib.learn model has "linear//weight".
  return scope.empty() ? std::string(name) : scope + "/" + std::string(name);
}

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
void VariableScope::set_constraint(Constraint constraint) { state_->constraint = std::move(constraint); }
void VariableScope::set_partitioner(Partitioner partitioner) { state_->partitioner = std::move(partitioner); }
void VariableScope::set_custom_getter(CustomGetter getter) { state_->custom_getter = std::move(getter); }
void VariableScope::set_caching_device(std::string device) { state_->caching_device = std::move(device); }
void VariableScope::set_dtype(DType dtype) { state_->dtype = dtype; }
void VariableScope::set_use_resource(bool use_resource) { state_->use_resource = use_resource; }
VariableScope VariableScope::handle() const { return VariableScope(state_, {}); }

VariableScope Graph::variable_scope() { return VariableScope(store_of(*this).current, {}); }

VariableScope Graph::variable_scope(std::string_view name) { return variable_scope(name, {}); }

VariableScope Graph::variable_scope(std::string_view name, const VariableScopeOptions& options) {
  VariableStore& store = store_of(*this);
  std::string own_name = options.unique ? unique_scope(store, name) : std::string(name);
  std::vector<Scope> names;
  const bool unnamed = own_name.empty() && !options.unique;
  names.push_back(!options.auxiliary_name_scope || unnamed ? same_name_scope(*this)
                                                           : name_scope(options.unique ? name : own_name));

  auto state = std::make_shared<VariableScope::State>(*store.current);
  state->name = join_scope(store.current->name, own_name);
  state->original_name_scope = names.back().name();
  apply(options, *state);
  ++store.times_entered[state->name];
  return enter(store, state, std::move(names), [&store, prefix = state->name + "/"] {
    // Inner scopes are numbered anew when this one is entered again.
    for (auto it = store.times_entered.lower_bound(prefix);
         it != store.times_entered.end() && it->first.starts_with(prefix); ++it) {
      it->second = 0;
    }
  });
}

VariableScope variable_scope(Graph& graph, const VariableScope& scope, const VariableScopeOptions& options) {
  VariableStore& store = store_of(graph);
  std::vector<Scope> names;
  const std::string& name = scope.name();
  if (!options.auxiliary_name_scope) {
    names.push_back(same_name_scope(graph));
  } else if (!name.empty()) {
    names.push_back(graph.name_scope(name.substr(name.rfind('/') + 1)));
  }
  auto state = std::make_shared<VariableScope::State>(scope.state());
  apply(options, *state);
  ++store.times_entered[state->name];
  // The numbers of scopes go on as if the program had not been there.
  return enter(store, state, std::move(names),
               [&store, counts = store.times_entered]() mutable { store.times_entered = std::move(counts); });
}

VariableScope TemplateScope::enter() {
  if (!scope_) {
    VariableScope entered = graph_->variable_scope(name_, {.unique = true});
    scope_ = std::make_shared<VariableScope>(entered.handle());
    return entered;
  }
  return variable_scope(*graph_, *scope_, {.reuse = called_ ? Reuse(true) : kAutoReuse});
}

}  // namespace weir
