#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/variable_scope.h"

// Layers: variables and what is computed with them. A layer is an object that can be called more than once and shares
// its variables between the calls; the functions of layer_functions.h make one and call it.
namespace weir::layers {

// What a layer asks of an input; what is not set is not asked for.
struct InputSpec {
  std::optional<int> ndim = {}, min_ndim = {}, max_ndim = {};
  std::optional<DType> dtype = {};
  std::map<int, int64_t> axes = {};  // sizes of some axes; negative ones count from the end
};

struct LayerOptions {
  bool trainable = true;
  std::string name = {};            // of the scope, numbered where there is such a scope; empty: the kind of layer
  std::optional<DType> dtype = {};  // of the variables; by default that of the input
  std::optional<Reuse> reuse = {};  // share the variables of a layer of that name
  std::string scope = {};           // the very scope, which other layers may have used before
};

struct WeightOptions {
  Initializer initializer = {};  // by default that of the scope, or Glorot's
  Regularizer regularizer = {};
  Constraint constraint = {};
  std::optional<DType> dtype = {};
  bool trainable = true;
};

// The base of all layers. A subclass makes its variables in build() with add_weight() and computes in call(). For one
// graph and one thread at a time, as graphs are; the graph must outlive the layer.
class WEIR_API Layer {
 public:
  // `kind` names the scope of layers that are given no name: "dense", then "dense_1".
  explicit Layer(std::string kind, const LayerOptions& options = {});
  virtual ~Layer();
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Builds the layer at the first call. Throws InvalidArgument when the input is not what input_spec() asks for.
  Output operator()(const Output& inputs, In::Where where = In::Where::current());

  const std::string& name() const { return name_; }
  const std::string& scope_name() const;  // of its variables; throws FailedPrecondition before the first call
  bool built() const { return built_; }
  bool trainable() const { return options_.trainable; }
  void set_trainable(bool trainable) { options_.trainable = trainable; }
  std::vector<Variable> trainable_weights() const;
  std::vector<Variable> non_trainable_weights() const;
  std::vector<Variable> weights() const;  // both
  int64_t count_params() const;           // numbers in them; throws FailedPrecondition before the first call
  // Also in the collections "regularization_losses" and "update_ops" of the graph.
  const std::vector<Output>& losses() const { return losses_; }
  const std::vector<Operation>& updates() const { return updates_; }

 protected:
  virtual void build(const Shape& /*input_shape*/) {}
  virtual Output call(const Output& inputs) = 0;

  // The variable of that name in the layer's scope. To be called in build().
  Variable add_weight(std::string_view name, const Shape& shape, const WeightOptions& options = {});
  void add_loss(const Output& loss);
  void add_update(const Operation& update);
  void set_input_spec(InputSpec spec) { input_spec_ = std::move(spec); }
  Graph& graph() const { return *graph_; }
  DType dtype() const { return options_.dtype.value_or(float32); }

  // Runs `compute` as the layer's call: in its scope, after building. For layers of more than one input, such as cells.
  template <class F>
  auto within(std::span<const Output> inputs, In::Where where, F compute) {
    Entered entered(*this, inputs, where);
    auto result = compute();
    entered.finish();
    return result;
  }

 private:
  class WEIR_API Entered {  // a call under way
   public:
    Entered(Layer& layer, std::span<const Output> inputs, In::Where where);
    ~Entered();
    Entered(const Entered&) = delete;
    void finish();

   private:
    struct State;
    Layer& layer_;
    std::unique_ptr<State> state_;
  };
  void set_scope(Graph& graph);
  void check_input(const Output& input) const;

  std::string kind_, name_;
  LayerOptions options_;
  InputSpec input_spec_;
  Graph* graph_ = nullptr;
  std::shared_ptr<VariableScope> scope_;  // a handle, from the first call on
  bool built_ = false;
  std::vector<Variable> trained_, kept_;
  std::vector<Output> losses_;
  std::vector<Operation> updates_;
};

}  // namespace weir::layers
