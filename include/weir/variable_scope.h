#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/initializers.h"
#include "weir/partitioners.h"
#include "weir/regularizers.h"

namespace weir {

// Whether get_variable makes variables (false), shares existing ones (true), or whichever applies (kAutoReuse).
class Reuse {
 public:
  enum class Mode { Make, Share, Auto };
  Reuse(bool reuse) : mode(reuse ? Mode::Share : Mode::Make) {}  // NOLINT
  constexpr explicit Reuse(Mode m) : mode(m) {}
  bool operator==(const Reuse&) const = default;
  Mode mode;
};
inline constexpr Reuse kAutoReuse{Reuse::Mode::Auto};

struct GetVariableOptions;
// Gives the variable of a full name, "tower/conv1/weights".
using VariableGetter =
    std::function<Variable(const std::string& name, const Shape& shape, const GetVariableOptions& options)>;
// Stands between get_variable and the variables: may ask `getter` for another name, shape or options, or for more than
// one variable. That of an inner scope is called first, and its getter is that of the outer scope.
using CustomGetter = std::function<Variable(const VariableGetter& getter, const std::string& name, const Shape& shape,
                                            const GetVariableOptions& options)>;

// What is not given is inherited from the enclosing scope.
struct VariableScopeOptions {
  std::optional<Reuse> reuse = {};
  Initializer initializer = {};
  Regularizer regularizer = {};
  Constraint constraint = {};
  Partitioner partitioner = {};
  CustomGetter custom_getter = {};
  std::optional<std::string> caching_device = {};  // where reads of the variables stand
  std::optional<DType> dtype = {};
  std::optional<bool> use_resource = {};
  bool unique = false;               // the name gets a number when a scope of that name has been entered before
  bool auxiliary_name_scope = true;  // false: nodes keep the name scope that they have outside
};

// A scope of variable names, and a name scope with it. Left at the end of the block.
class [[nodiscard]] WEIR_API VariableScope {
 public:
  VariableScope(VariableScope&&) noexcept;
  VariableScope& operator=(VariableScope&&) = delete;
  ~VariableScope();

  const std::string& name() const;                 // "tower/conv1", or "" at the root
  const std::string& original_name_scope() const;  // "tower_1/conv1/"
  bool reuse() const;
  Reuse reuse_mode() const;
  DType dtype() const;
  bool use_resource() const;
  // From now on, until the scope is left, get_variable shares.
  void reuse_variables();
  // What get_variable takes from this scope from now on.
  void set_initializer(Initializer initializer);
  void set_regularizer(Regularizer regularizer);
  void set_constraint(Constraint constraint);
  void set_partitioner(Partitioner partitioner);
  void set_custom_getter(CustomGetter custom_getter);
  void set_caching_device(std::string device);
  void set_dtype(DType dtype);
  void set_use_resource(bool use_resource);
  // The same scope without the duty to leave it: to be entered again later.
  VariableScope handle() const;

  struct State;
  VariableScope(std::shared_ptr<State> state, std::vector<Scope> leave);
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
  std::vector<Scope> leave_;  // left from the last to the first
};

// Enters a scope again, from wherever the program is now: its variables, a new name scope. What the options do not give
// is taken from the scope, not from the enclosing one.
WEIR_API VariableScope variable_scope(Graph& graph, const VariableScope& scope,
                                      const VariableScopeOptions& options = {});

struct GetVariableOptions {
  Initializer initializer = {};
  Regularizer regularizer = {};
  Constraint constraint = {};
  std::optional<DType> dtype = {};  // float unless the scope or the initial value says otherwise
  bool trainable = true;
  std::vector<std::string> collections = {};
  std::optional<std::string> caching_device = {};
  std::optional<bool> use_resource = {};
  bool validate_shape = true;
};

// Graph::get_variable makes the variable "<scope>/<name>", or gives the one made before where the scope shares.
// Throws InvalidArgument when it exists and the scope does not share (saying where it was made), when it does not exist
// and the scope only shares, and when shape or type differ from those it was made with. The losses of regularizers are
// in the collection "regularization_losses".

// What brings a variable back into its bounds after an update; empty for one without.
WEIR_API Constraint constraint_of(const Variable& variable);

// The scope of a function whose variables are made by its first call and shared by the others.
class WEIR_API TemplateScope {
 public:
  TemplateScope(Graph& graph, std::string name) : graph_(&graph), name_(std::move(name)) {}
  VariableScope enter();
  void called() { called_ = true; }  // every variable has been made: from now on they are shared

 private:
  Graph* graph_;
  std::string name_;
  std::shared_ptr<VariableScope> scope_;
  bool called_ = false;
};

// auto encoder = make_template(g, "encoder", [](Output x) { ... get_variable ... });  encoder(a); encoder(b);
template <class F>
auto make_template(Graph& graph, std::string name, F function) {
  auto scope = std::make_shared<TemplateScope>(graph, std::move(name));
  return [scope, function = std::move(function)](auto&&... args) {
    VariableScope entered = scope->enter();
    auto result = function(std::forward<decltype(args)>(args)...);
    scope->called();
    return result;
  };
}

}  // namespace weir
