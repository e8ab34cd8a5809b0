#include "ops/state/sdca_losses.h"

namespace weir::ops::sdca {
namespace {

constexpr int kNewtonSteps = 10;  // it converges quadratically

// Of a dual variable outside of its domain.
constexpr double kInfinite = std::numeric_limits<double>::max();

double plus_or_minus_one(float given) {
  if (given != 0.0f && given != 1.0f) {
    throw invalid_argument("Only labels of 0.0 or 1.0 are supported right now. Found example with label: {}", given);
  }
  return given == 0.0f ? -1.0 : 1.0;
}

// The dual variables of hinges, times the label, lie between 0 and 1.
double between(double label, double dual) {
  if (label * dual < 0) return 0.0;
  return label * dual > 1.0 ? label : dual;
}

class Logistic final : public Loss {
 public:
  double label(float given) const override { return plus_or_minus_one(given); }
  // Newton's method on x, where the dual variable is (1 + tanh x) / 2 times the label.
  double updated_dual(const Place& p) const override {
    double x = 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double t = std::tanh(x);
      const double value = -2 * p.label * x - p.wx - p.curvature() * (0.5 * (1 + t) / p.label - p.dual);
      const double slope = -2 * p.label - p.curvature() * (1 - t * t) * 0.5 / p.label;
      x -= value / slope;
    }
    return 0.5 * (1 + std::tanh(x)) / p.label;
  }
  double primal_loss(double wx, double label, double weight) const override {
    const double margin = label * wx;
    return (std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0)) * weight;
  }
  double dual_loss(double dual, double label, double weight) const override {
    const double a = dual * label, rest = 1 - a;
    return (a * (a > 0 ? std::log(a) : 0) + rest * (rest > 0 ? std::log(rest) : 0)) * weight;
  }
  double derivative(double wx, double label) const override { return -label / (1 + std::exp(label * wx)); }
  double smoothness() const override { return 4; }
};

class Squared final : public Loss {
 public:
  double label(float given) const override { return given; }
  double updated_dual(const Place& p) const override {
    return p.dual + (p.label - p.dual - p.wx) / (1 + p.curvature());
  }
  double primal_loss(double wx, double label, double weight) const override {
    return (wx - label) * (wx - label) * weight * 0.5;
  }
  double dual_loss(double dual, double label, double weight) const override {
    return dual * (0.5 * dual - label) * weight;
  }
  double derivative(double wx, double label) const override { return wx - label; }
  double smoothness() const override { return 1; }
};

class Hinge final : public Loss {
 public:
  double label(float given) const override { return plus_or_minus_one(given); }
  double updated_dual(const Place& p) const override {
    return between(p.label, p.dual + (p.label - p.wx) / p.curvature());
  }
  double primal_loss(double wx, double label, double weight) const override {
    return std::max(0.0, 1 - label * wx) * weight;
  }
  double dual_loss(double dual, double label, double weight) const override {
    const double a = dual * label;
    return a < 0 || a > 1.0 ? kInfinite : -a * weight;
  }
  double derivative(double wx, double label) const override { return label * wx < 1 ? -label : 0; }
  double smoothness() const override { return 0; }
};

// A hinge whose corner is a parabola of this width.
class SmoothHinge final : public Loss {
 public:
  double label(float given) const override { return plus_or_minus_one(given); }
  double updated_dual(const Place& p) const override {
    return between(p.label, p.dual + (p.label - p.wx - kWidth * p.dual) / (p.curvature() + kWidth));
  }
  double primal_loss(double wx, double label, double weight) const override {
    const double missing = 1 - label * wx;
    if (missing <= 0) return 0;
    return (missing >= kWidth ? missing - kWidth / 2 : missing * missing * 0.5 / kWidth) * weight;
  }
  double dual_loss(double dual, double label, double weight) const override {
    const double a = dual * label;
    return a < 0 || a > 1.0 ? kInfinite : (-a + 0.5 * kWidth * dual * dual) * weight;
  }
  double derivative(double wx, double label) const override {
    const double missing = 1 - label * wx;
    if (missing <= 0) return 0;
    return missing >= kWidth ? -label : (wx - label) / kWidth;
  }
  double smoothness() const override { return kWidth; }

 private:
  static constexpr double kWidth = 1;
};

class Poisson final : public Loss {
 public:
  double label(float given) const override {
    if (given < 0.0f) {
      throw invalid_argument(
          "Only non-negative labels can be used with the Poisson log loss. Found example with label: {}", given);
    }
    return given;
  }
  // Newton's method on x, where the dual variable is the label less exp(x).
  double updated_dual(const Place& p) const override {
    const double left = p.label - p.dual;
    double x = left > 0 ? std::log(left) : 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double e = std::exp(x);
      x -= (x - p.wx - p.curvature() * (p.label - p.dual - e)) / (1 + p.curvature() * e);
    }
    return p.label - std::exp(x);
  }
  double primal_loss(double wx, double label, double weight) const override {
    return (std::exp(wx) - wx * label) * weight;
  }
  double dual_loss(double dual, double label, double weight) const override {
    const double left = label - dual;
    if (left == 0.0) return 0.0;
    return left < 0.0 ? kInfinite : left * (std::log(left) - 1) * weight;
  }
  double derivative(double wx, double label) const override { return std::exp(wx) - label; }
  double smoothness() const override { return 1; }
};

}  // namespace

const Loss& loss_named(const std::string& name) {
  static const Logistic logistic;
  static const Squared squared;
  static const Hinge hinge;
  static const SmoothHinge smooth_hinge;
  static const Poisson poisson;
  if (name == "logistic_loss") return logistic;
  if (name == "squared_loss") return squared;
  if (name == "hinge_loss") return hinge;
  if (name == "smooth_hinge_loss") return smooth_hinge;
  if (name == "poisson_loss") return poisson;
  throw invalid_argument("Unsupported loss type: {}", name);
}

}  // namespace weir::ops::sdca
