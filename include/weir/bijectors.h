#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weir/distributions.h"
#include "weir/export.h"
#include "weir/graph.h"
#include "weir/shared.h"

// Functions of events with an inverse and the logarithm of their Jacobian's determinant, and distributions after them.
//
//   using namespace distributions;
//   TransformedDistribution log_normal(Normal(0.5f, scale), bijectors::Exp());
namespace weir::bijectors {

// What has been computed for a tensor is not computed again, for it or for what it became: the log probability of a
// sample needs no inverse. Copies share that. Nodes stand in a scope of the bijector's name.
class WEIR_API Bijector {
 public:
  virtual ~Bijector();
  const std::string& name() const { return setup_.name; }
  bool is_constant_jacobian() const { return setup_.is_constant_jacobian; }
  // The fewest dimensions of an event: 0 for functions of numbers, 1 of vectors.
  int forward_min_event_ndims() const { return setup_.min_event_ndims; }
  int inverse_min_event_ndims() const { return setup_.min_event_ndims; }

  // The value must belong to a graph.
  Output forward(const In& x) const;
  Output inverse(const In& y) const;
  // Summed over the last `event_ndims` dimensions, by default the fewest; throws InvalidArgument for fewer than these.
  Output forward_log_det_jacobian(const In& x, std::optional<int> event_ndims = {}) const;
  Output inverse_log_det_jacobian(const In& y, std::optional<int> event_ndims = {}) const;

  // What a class defines: both directions, and one of the determinants or both; an empty handle is "not defined".
  virtual Output do_forward(const Output& x) const = 0;
  virtual Output do_inverse(const Output& y) const = 0;
  virtual Output do_forward_log_det_jacobian(const Output& /*x*/) const { return {}; }
  virtual Output do_inverse_log_det_jacobian(const Output& /*y*/) const { return {}; }

 protected:
  struct Setup {
    std::string name;
    int min_event_ndims = 0;
    bool is_constant_jacobian = false;
  };
  explicit Bijector(Setup setup);

 private:
  struct Known;
  Output remembered_forward(const Output& x) const;
  Output remembered_inverse(const Output& y) const;
  Output log_det(const Output& x, const Output& y, bool of_forward, std::optional<int> event_ndims) const;
  Output over_event(const Output& log_det, const Output& tensor, int event_ndims) const;

  Setup setup_;
  std::shared_ptr<Known> known_;
};
using AnyBijector = Shared<const Bijector>;

class WEIR_API Identity final : public Bijector {
 public:
  Identity() : Bijector({.name = "identity", .is_constant_jacobian = true}) {}
  Output do_forward(const Output& x) const override { return x; }
  Output do_inverse(const Output& y) const override { return y; }
  Output do_forward_log_det_jacobian(const Output& x) const override;
};

// (1 + p x) ^ (1 / p); exp for p = 0. Throws InvalidArgument for a negative p.
class WEIR_API PowerTransform : public Bijector {
 public:
  explicit PowerTransform(double power, std::string name = "power_transform");
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;
  Output do_inverse_log_det_jacobian(const Output& y) const override;

 private:
  double power_;
};
class WEIR_API Exp final : public PowerTransform {
 public:
  Exp() : PowerTransform(0, "exp") {}
};

class WEIR_API Sigmoid final : public Bijector {
 public:
  Sigmoid() : Bijector({.name = "sigmoid"}) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;
  Output do_inverse_log_det_jacobian(const Output& y) const override;
};

class WEIR_API Tanh final : public Bijector {
 public:
  Tanh() : Bijector({.name = "tanh"}) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;
};

// hinge_softness * softplus(x / hinge_softness)
class WEIR_API Softplus final : public Bijector {
 public:
  explicit Softplus(std::optional<In> hinge_softness = {})
      : Bijector({.name = "softplus"}), softness_(std::move(hinge_softness)) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;

 private:
  std::optional<In> softness_;
};

class WEIR_API Softsign final : public Bijector {
 public:
  Softsign() : Bijector({.name = "softsign"}) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;
};

// Of numbers that are not negative.
class WEIR_API Square final : public Bijector {
 public:
  Square() : Bijector({.name = "square"}) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;
};

// exp(-exp(-(x - loc) / scale))
class WEIR_API Gumbel final : public Bijector {
 public:
  explicit Gumbel(In loc = 0.0, In scale = 1.0)
      : Bijector({.name = "gumbel"}), loc_(std::move(loc)), scale_(std::move(scale)) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_inverse_log_det_jacobian(const Output& y) const override;

 private:
  In loc_, scale_;
};

// shift + scale x
struct AffineScalarOptions {
  std::optional<In> shift = {}, scale = {};
};
class WEIR_API AffineScalar final : public Bijector {
 public:
  explicit AffineScalar(AffineScalarOptions options)
      : Bijector({.name = "affine_scalar", .is_constant_jacobian = true}), options_(std::move(options)) {}
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;

 private:
  AffineScalarOptions options_;
};

// shift + scale x for vectors; the scale is a diagonal, or a lower triangle.
struct AffineOptions {
  std::optional<In> shift = {}, scale_diag = {}, scale_tril = {};
};
class WEIR_API Affine final : public Bijector {
 public:
  // Throws InvalidArgument when both scales are given.
  explicit Affine(AffineOptions options);
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;

 private:
  Output tril(const Output& like) const;

  AffineOptions options_;
};

// The inverse of a bijector as one.
class WEIR_API Invert final : public Bijector {
 public:
  explicit Invert(AnyBijector bijector);
  const Bijector& bijector() const { return *bijector_; }
  Output do_forward(const Output& x) const override { return bijector_->inverse(x); }
  Output do_inverse(const Output& y) const override { return bijector_->forward(y); }
  Output do_forward_log_det_jacobian(const Output& x) const override { return bijector_->inverse_log_det_jacobian(x); }
  Output do_inverse_log_det_jacobian(const Output& y) const override { return bijector_->forward_log_det_jacobian(y); }

 private:
  AnyBijector bijector_;
};

// Bijectors one after another, the last first: Chain({f, g}) is f(g(x)).
class WEIR_API Chain final : public Bijector {
 public:
  explicit Chain(std::vector<AnyBijector> bijectors);
  const std::vector<AnyBijector>& bijectors() const { return bijectors_; }
  Output do_forward(const Output& x) const override;
  Output do_inverse(const Output& y) const override;
  Output do_forward_log_det_jacobian(const Output& x) const override;

 private:
  std::vector<AnyBijector> bijectors_;
};

}  // namespace weir::bijectors

namespace weir::distributions {

// The distribution of bijector.forward(x). For vectors of independent numbers, transform a distribution of vectors,
// such as Independent.
class WEIR_API TransformedDistribution final : public Distribution {
 public:
  TransformedDistribution(AnyDistribution distribution, bijectors::AnyBijector bijector, const Options& options = {});
  const Distribution& distribution() const { return *distribution_; }
  const bijectors::Bijector& bijector() const { return *bijector_; }
  Shape do_batch_shape() const override { return distribution_->batch_shape(); }
  Output do_batch_shape_tensor() const override { return distribution_->batch_shape_tensor(); }
  Shape do_event_shape() const override { return distribution_->event_shape(); }
  Output do_event_shape_tensor() const override { return distribution_->event_shape_tensor(); }
  Output do_sample_n(const Output& n, Seed seed) const override;
  Output do_transform(const Output& x) const override;
  Output do_log_prob(const Output& y) const override;
  // Of increasing bijectors.
  Output do_log_cdf(const Output& y) const override;
  Output do_cdf(const Output& y) const override;
  Output do_survival_function(const Output& y) const override;
  Output do_log_survival_function(const Output& y) const override;
  Output do_quantile(const Output& p) const override;
  // Of bijectors whose Jacobian is the same everywhere.
  Output do_mean() const override;
  Output do_entropy() const override;

 private:
  AnyDistribution distribution_;
  bijectors::AnyBijector bijector_;
};

}  // namespace weir::distributions
