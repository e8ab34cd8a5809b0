#include <cmath>
#include <limits>
#include <numbers>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

// The derivative of lgamma. Reflection takes negative arguments to positive ones, the recurrence psi(x) = psi(x+1) -
// 1/x large enough for the asymptotic series, whose first term left out is below 1e-17.
double digamma_of(double x) {
  double result = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::infinity();  // a pole; TensorFlow's answer
    result = -std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
    x = 1 - x;
  }
  for (; x < 10; ++x) result -= 1 / x;
  double z = 1 / (x * x);
  double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

struct Digamma {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(digamma_of(x));
  }
};

}  // namespace

OpDef digamma_op() { return unary_op<Digamma, FloatTypes>("Digamma", kFloatT, nullptr); }

}  // namespace weir::ops

namespace weir {

Output digamma(const In& x, std::string_view name) { return NodeBuilder("Digamma", name).input(x).output(); }

}  // namespace weir
