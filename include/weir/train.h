#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/gradients.h"
#include "weir/graph.h"
#include "weir/variable_scope.h"

namespace weir::train {

using GradsAndVars = std::vector<std::pair<Gradient, Variable>>;

// What a gradient waits for before it may be used: nothing, the other gradients of the same node, or all gradients.
enum class GateGradients { None, Op, Graph };

struct ComputeGradientsOptions {
  std::vector<Variable> var_list = {};   // empty: the graph's trainable variables
  std::optional<Output> grad_loss = {};  // d(objective)/d(loss); ones when not given
  bool colocate_gradients_with_ops = false;
  GateGradients gate_gradients = GateGradients::Op;
};
struct ApplyGradientsOptions {
  std::optional<Variable> global_step = {};  // counted up by 1 after the updates
  std::string name = {};                     // empty: the optimizer's name
  // What follows a variable's update and stands for it then: a constraint that brings the value back into its bounds.
  std::function<Operation(const Variable&, const Gradient&, const Operation&)> after_update = {};
};
struct MinimizeOptions {
  std::vector<Variable> var_list = {};
  std::optional<Variable> global_step = {};
  std::optional<Output> grad_loss = {};
  bool colocate_gradients_with_ops = false;
  GateGradients gate_gradients = GateGradients::Op;
  std::string name = {};
};

// What all optimizers do: differentiate a loss, keep slots (variables beside a variable: "W/Momentum") and build one
// operation that updates every variable. Nodes and names are TensorFlow's, so that checkpoints can be exchanged. An
// optimizer serves one graph at a time and must not outlive it.
class WEIR_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates hold the variable's lock, so that others that do too come before or after. Set before apply_gradients.
  void set_use_locking(bool use_locking) { use_locking_ = use_locking; }

  // compute_gradients and apply_gradients in one.
  Operation minimize(const Output& loss, const MinimizeOptions& options = {}, In::Where where = In::Where::current());
  // One pair for each variable; of those that the loss does not depend on the gradient is none. Throws InvalidArgument
  // when there is no variable at all.
  virtual GradsAndVars compute_gradients(const Output& loss, const ComputeGradientsOptions& options = {},
                                         In::Where where = In::Where::current());
  // Throws InvalidArgument when no pair has a gradient.
  virtual Operation apply_gradients(const GradsAndVars& grads_and_vars, const ApplyGradientsOptions& options = {},
                                    In::Where where = In::Where::current());

  const std::string& name() const { return name_; }
  // The slot that was made for a variable ("momentum", "m"), or an empty handle.
  Variable slot(const Variable& variable, std::string_view slot_name) const;
  std::vector<std::string> slot_names() const;
  // A variable of the optimizer itself ("beta1_power"), or an empty handle.
  Variable non_slot(const std::string& name, const Graph& graph) const;
  // Slots and the optimizer's other variables, in order of creation.
  const std::vector<Variable>& variables() const { return variables_; }

  // Steps of apply_gradients, in this order. An optimizer that is made of another calls the other's.
  virtual void create_slots(const std::vector<Variable>& variables);
  virtual void prepare(Graph& graph) = 0;
  virtual Operation apply_dense(const Output& grad, const Variable& variable) = 0;
  // Indices may repeat. By default equal indices are summed and apply_sparse gets what remains.
  virtual Operation apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable);
  virtual Operation apply_sparse(const IndexedSlices& grad, const Variable& variable);
  virtual Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name);

 protected:
  explicit Optimizer(std::string_view name) : name_(name) {}

  // A variable of the same shape and type beside `variable`, named "<variable>/<optimizer>" or "<variable>/<name>";
  // made once. The initializer is a function, or an Output.
  Variable make_slot(const Variable& variable, std::string_view slot_name, const Initializer& initializer,
                     std::string_view name = {});
  // A variable of the optimizer itself; made once for each graph.
  Variable non_slot_variable(const In& initial_value, const std::string& name, const Variable& colocate_with);
  bool use_locking() const { return use_locking_; }
  // A hyperparameter as a tensor of the graph, a constant of that name when it is a number.
  static Output parameter(Graph& graph, const In& value, std::string_view name);

 private:
  std::string name_;
  bool use_locking_ = false;
  std::map<std::pair<std::string, const Node*>, Variable> slots_;
  std::map<std::pair<std::string, const Graph*>, Variable> non_slots_;
  std::vector<Variable> variables_;
};

// w -= learning_rate * grad
class WEIR_API GradientDescent final : public Optimizer {
 public:
  explicit GradientDescent(const In& learning_rate, std::string_view name = "GradientDescent");

 private:
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable) override;

  In learning_rate_;
  Output learning_rate_tensor_;
};

// a = momentum * a + grad;  w -= learning_rate * a
struct MomentumOptions {
  bool use_nesterov = false;
  std::string_view name = "Momentum";
};
class WEIR_API Momentum final : public Optimizer {
 public:
  Momentum(const In& learning_rate, const In& momentum, const MomentumOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;

  In learning_rate_, momentum_;
  bool use_nesterov_;
  Output learning_rate_tensor_, momentum_tensor_;
};

// Kingma and Ba, "Adam: a method for stochastic optimization", 2014.
struct AdamOptions {
  In beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  std::string_view name = "Adam";
};
class WEIR_API Adam final : public Optimizer {
 public:
  explicit Adam(const In& learning_rate = 0.001f, const AdamOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) override;

  In learning_rate_, beta1_, beta2_, epsilon_;
  Output learning_rate_tensor_, beta1_tensor_, beta2_tensor_, epsilon_tensor_;
  Variable beta1_power_, beta2_power_;
};

// a += grad^2;  w -= learning_rate * grad / sqrt(a)
struct AdagradOptions {
  float initial_accumulator_value = 0.1f;
  std::string_view name = "Adagrad";
};
class WEIR_API Adagrad final : public Optimizer {
 public:
  explicit Adagrad(const In& learning_rate, const AdagradOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;

  In learning_rate_;
  float initial_accumulator_value_;
  Output learning_rate_tensor_;
};

// ms = decay * ms + (1 - decay) * grad^2;  mom = momentum * mom + learning_rate * grad / sqrt(ms + epsilon);  w -= mom
// Centered, with the mean of gradients mg: grad / sqrt(ms - mg^2 + epsilon).
struct RmsPropOptions {
  In decay = 0.9f, momentum = 0.0f, epsilon = 1e-10f;
  bool centered = false;
  std::string_view name = "RMSProp";
};
class WEIR_API RmsProp final : public Optimizer {
 public:
  explicit RmsProp(const In& learning_rate, const RmsPropOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;

  Operation apply(const Variable& variable, const Output& grad, const Output& indices);

  In learning_rate_, decay_, momentum_, epsilon_;
  bool centered_;
  Output learning_rate_tensor_, decay_tensor_, momentum_tensor_, epsilon_tensor_;
};

// The mean of the towers' gradients for each variable. Towers list the same variables in the same order; a variable
// without a gradient in one of them has none. Throws InvalidArgument when the lists differ.
WEIR_API GradsAndVars average_gradients(const std::vector<GradsAndVars>& towers);

}  // namespace weir::train
