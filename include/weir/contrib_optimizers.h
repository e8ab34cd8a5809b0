#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/train.h"

// The optimizers that TensorFlow keeps in contrib.opt.
namespace weir::train {

// Bello and others, "Neural optimizer search with reinforcement learning", 2017: the gradient times alpha + sign_decay
// * sign(g) * sign(m), or times base^(sign_decay * sign(g) * sign(m)), where m is its moving average.
struct AddSignOptions {
  In alpha = 1.0f, beta = 0.9f, sign_decay = 1.0f;
  std::string_view name = "AddSignOptimizer";
};
struct PowerSignOptions {
  double base = 2.718281828459045;
  In beta = 0.9f, sign_decay = 1.0f;
  std::string_view name = "PowerSignOptimizer";
};
class WEIR_API SignOptimizer : public Optimizer {
 protected:
  SignOptimizer(std::string_view rule, const In& learning_rate, const In& factor, const In& beta, const In& sign_decay,
                std::string_view factor_name, std::string_view name);

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;

  std::string rule_;
  bool adds_;
  std::string factor_name_;
  In learning_rate_, factor_, beta_, sign_decay_;
  Output learning_rate_tensor_, factor_tensor_, beta_tensor_, sign_decay_tensor_;
};
class WEIR_API AddSign final : public SignOptimizer {
 public:
  explicit AddSign(const In& learning_rate = 0.1f, const AddSignOptions& options = {});
};
class WEIR_API PowerSign final : public SignOptimizer {
 public:
  explicit PowerSign(const In& learning_rate = 0.1f, const PowerSignOptions& options = {});
};

// Relatives of Adam. AdaMax divides by the largest gradient, Nadam looks ahead (Dozat, 2015), LazyAdam leaves the
// moments of rows alone that have no gradient.
class WEIR_API AdamRelative : public Optimizer {
 protected:
  enum class Kind { AdaMax, Nadam, Lazy };
  AdamRelative(Kind kind, const In& learning_rate, const AdamOptions& options);

 private:
  void create_slots(const std::vector<Variable>& variables) override;
  void prepare(Graph& graph) override;
  Operation apply_dense(const Output& grad, const Variable& variable) override;
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override;
  Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) override;

  Kind kind_;
  In learning_rate_, beta1_, beta2_, epsilon_;
  Output learning_rate_tensor_, beta1_tensor_, beta2_tensor_, epsilon_tensor_;
  Variable beta1_power_, beta2_power_;
};
class WEIR_API AdaMax final : public AdamRelative {
 public:
  explicit AdaMax(const In& learning_rate = 0.001f, const AdamOptions& options = {.name = "AdaMax"})
      : AdamRelative(Kind::AdaMax, learning_rate, options) {}
};
class WEIR_API Nadam final : public AdamRelative {
 public:
  explicit Nadam(const In& learning_rate = 0.001f, const AdamOptions& options = {})
      : AdamRelative(Kind::Nadam, learning_rate, options) {}
};
class WEIR_API LazyAdam final : public AdamRelative {
 public:
  explicit LazyAdam(const In& learning_rate = 0.001f, const AdamOptions& options = {})
      : AdamRelative(Kind::Lazy, learning_rate, options) {}
};

}  // namespace weir::train
