#pragma once

#include <string_view>
#include <vector>

#include "weir/train.h"

// The optimizers that few programs use; the usual ones stand in train.h.
namespace weir::train {

// Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
struct AdadeltaOptions {
  In rho = 0.95f, epsilon = 1e-8f;
  std::string_view name = "Adadelta";
};
class WEIR_API Adadelta final : public Optimizer {
 public:
  explicit Adadelta(const In& learning_rate = 0.001f, const AdadeltaOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation apply(const Variable& variable, const Output& grad, const Output& indices);

  In learning_rate_, rho_, epsilon_;
  Output learning_rate_tensor_, rho_tensor_, epsilon_tensor_;
};

// McMahan and others, "Ad click prediction: a view from the trenches", 2013. Throws InvalidArgument for a positive
// learning_rate_power and for negative values of the others.
struct FtrlOptions {
  float learning_rate_power = -0.5f;
  float initial_accumulator_value = 0.1f;
  float l1_regularization_strength = 0, l2_regularization_strength = 0;
  float l2_shrinkage_regularization_strength = 0;
  std::string_view name = "Ftrl";
  std::string accum_name = {}, linear_name = {};  // of the slots' variables; empty: the optimizer's
};
class WEIR_API Ftrl final : public Optimizer {
 public:
  explicit Ftrl(const In& learning_rate, const FtrlOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation apply(const Variable& variable, const Output& grad, const Output& indices);

  In learning_rate_;
  FtrlOptions options_;
  Output learning_rate_tensor_, l1_tensor_, l2_tensor_, shrinkage_tensor_, power_tensor_;
};

// Steps followed by the exact minimum of the l1 and l2 terms around the new place (Duchi and Singer, 2009).
struct ProximalOptions {
  In l1_regularization_strength = 0.0f, l2_regularization_strength = 0.0f;
  std::string_view name = "ProximalGradientDescent";
};
class WEIR_API ProximalGradientDescent final : public Optimizer {
 public:
  explicit ProximalGradientDescent(const In& learning_rate, const ProximalOptions& options = {});

 private:
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation apply(const Variable& variable, const Output& grad, const Output& indices);

  In learning_rate_, l1_, l2_;
  Output learning_rate_tensor_, l1_tensor_, l2_tensor_;
};

struct ProximalAdagradOptions {
  float initial_accumulator_value = 0.1f;  // positive
  In l1_regularization_strength = 0.0f, l2_regularization_strength = 0.0f;
  std::string_view name = "ProximalAdagrad";
};
class WEIR_API ProximalAdagrad final : public Optimizer {
 public:
  explicit ProximalAdagrad(const In& learning_rate, const ProximalAdagradOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation apply(const Variable& variable, const Output& grad, const Output& indices);

  In learning_rate_, l1_, l2_;
  float initial_accumulator_value_;
  Output learning_rate_tensor_, l1_tensor_, l2_tensor_;
};

// Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011, by dual averaging: for sparse linear models.
struct AdagradDAOptions {
  float initial_gradient_squared_accumulator_value = 0.1f;  // positive
  In l1_regularization_strength = 0.0f, l2_regularization_strength = 0.0f;
  std::string_view name = "AdagradDA";
};
class WEIR_API AdagradDA final : public Optimizer {
 public:
  // `global_step` is int64 and counted up by apply_gradients.
  AdagradDA(const In& learning_rate, const In& global_step, const AdagradDAOptions& options = {});

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation apply(const Variable& variable, const Output& grad, const Output& indices);

  In learning_rate_, global_step_, l1_, l2_;
  float initial_squares_;
  Output learning_rate_tensor_, step_tensor_;
};

}  // namespace weir::train
