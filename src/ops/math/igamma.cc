#include "ops/math/binary.h"
#include "ops/math/incomplete_gamma.h"
#include "ops/math/unary.h"
#include "weir/special_ops.h"

namespace weir::ops {
namespace {

struct Lower {
  static constexpr int64_t kGrain = 256;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(lower_gamma_of(a, x));
  }
};
struct Upper {
  static constexpr int64_t kGrain = 256;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(upper_gamma_of(a, x));
  }
};
struct Slope {
  static constexpr int64_t kGrain = 256;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(lower_gamma_slope_of(a, x));
  }
};

// By x: x^(a-1) e^-x / gamma(a), through logarithms so that nothing overflows.
template <bool kLower>
void gradient(GradContext& c) {
  Output a = c.input(0), x = c.input(1), grad = kLower ? c.output_grad() : -c.output_grad();
  Output by_a = NodeBuilder("IgammaGradA").input(a).input(x).output();
  Output by_x = exp(-x + (a - 1) * log(x) - lgamma(a));
  set_broadcast_grads(c, by_a * grad, by_x * grad);
}

constexpr std::string_view kTypes = "T:type{float,double}", kInputs = "a:T; x:T";
using RealFloats = Types<float, double>;

struct I0 {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(scaled_bessel_i0(x));
  }
};
struct I1 {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(scaled_bessel_i1(x));
  }
};

void i0_gradient(GradContext& c) {
  Output x = c.input(0), y = c.output(0);
  Output slope = NodeBuilder("BesselI1e").input(x).output() - sign(x) * y;
  c.set_input_grad(0, c.output_grad() * slope);
}

// I1(x)/x tends to a half at zero.
void i1_gradient(GradContext& c) {
  Output x = c.input(0), y = c.output(0);
  Output is_zero = equal(x, zeros_like(x));
  Output safe = where(is_zero, ones_like(x), x);
  Output slope = NodeBuilder("BesselI0e").input(safe).output() - y * (sign(safe) + reciprocal(safe));
  c.set_input_grad(0, c.output_grad() * where(is_zero, 0.5 * ones_like(x), slope));
}

}  // namespace

OpDef igamma_op() {
  return binary_op<Lower, RealFloats>(
      {.name = "Igamma", .attrs = kTypes, .gradient = gradient<true>, .inputs = kInputs});
}
OpDef igammac_op() {
  return binary_op<Upper, RealFloats>(
      {.name = "Igammac", .attrs = kTypes, .gradient = gradient<false>, .inputs = kInputs});
}
OpDef igamma_grad_a_op() {
  return binary_op<Slope, RealFloats>({.name = "IgammaGradA", .attrs = kTypes, .inputs = kInputs});
}
OpDef bessel_i0e_op() { return unary_op<I0, FloatTypes>("BesselI0e", kFloatT, i0_gradient); }
OpDef bessel_i1e_op() { return unary_op<I1, FloatTypes>("BesselI1e", kFloatT, i1_gradient); }

}  // namespace weir::ops

namespace weir {

Output igamma(const In& a, const In& x, std::string_view name) {
  return NodeBuilder("Igamma", name).input(a).input(x).output();
}
Output igammac(const In& a, const In& x, std::string_view name) {
  return NodeBuilder("Igammac", name).input(a).input(x).output();
}

}  // namespace weir
