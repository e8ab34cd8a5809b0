#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// How a variable begins: a function of its shape and type, or a value.
class WEIR_API Initializer {
 public:
  using Function = std::function<Output(Graph&, const Shape&, DType)>;
  Initializer() = default;  // none: the scope's, or by default uniform (Glorot)
  Initializer(Function function) : function_(std::move(function)) {}  // NOLINT
  Initializer(const In& value) : value_(value) {}                     // NOLINT
  template <class T>
  requires std::is_arithmetic_v<T> Initializer(T value, In::Where where = In::Where::current())
      : value_(In(value, where)) {}                                                                       // NOLINT
  Initializer(const Tensor& value, In::Where where = In::Where::current()) : value_(In(value, where)) {}  // NOLINT

  explicit operator bool() const { return function_ || value_; }
  const Function& function() const { return function_; }
  const std::optional<In>& value() const { return value_; }

 private:
  Function function_;
  std::optional<In> value_;
};

WEIR_API Initializer zeros_initializer();
WEIR_API Initializer ones_initializer();
WEIR_API Initializer constant_initializer(double value);
struct RandomInitializerOptions {
  float mean = 0;
  std::optional<int64_t> seed = {};
};
WEIR_API Initializer random_normal_initializer(float stddev = 1, const RandomInitializerOptions& options = {});
WEIR_API Initializer truncated_normal_initializer(float stddev = 1, const RandomInitializerOptions& options = {});
WEIR_API Initializer random_uniform_initializer(float minval = 0, float maxval = 1,
                                                std::optional<int64_t> seed = std::nullopt);
// Keeps the size of signals and gradients through a layer (Glorot and Bengio, 2010); also called Xavier.
WEIR_API Initializer glorot_uniform_initializer(std::optional<int64_t> seed = std::nullopt);
WEIR_API Initializer glorot_normal_initializer(std::optional<int64_t> seed = std::nullopt);

// What a variable adds to the loss. An empty Output adds nothing.
using Regularizer = std::function<Output(const Output& weights)>;
WEIR_API Regularizer l1_regularizer(float scale);
WEIR_API Regularizer l2_regularizer(float scale);

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

// What is not given is inherited from the enclosing scope.
struct VariableScopeOptions {
  std::optional<Reuse> reuse = {};
  Initializer initializer = {};
  Regularizer regularizer = {};
  std::optional<DType> dtype = {};
  std::optional<bool> use_resource = {};
  bool unique = false;  // the name gets a number when a scope of that name has been entered before
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
  std::optional<DType> dtype = {};  // float unless the scope or the initial value says otherwise
  bool trainable = true;
  std::vector<std::string> collections = {};
  std::optional<bool> use_resource = {};
  bool validate_shape = true;
};

// Graph::get_variable makes the variable "<scope>/<name>", or gives the one made before where the scope shares.
// Throws InvalidArgument when it exists and the scope does not share (saying where it was made), when it does not exist
// and the scope only shares, and when shape or type differ from those it was made with. The losses of regularizers are
// in the collection "regularization_losses".

}  // namespace weir
