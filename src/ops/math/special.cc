#include "ops/math/special.h"

#include <math.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace weir::ops {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// Reflection takes negative arguments to positive ones, the recurrence psi(x) = psi(x+1) - 1/x large enough for the
// asymptotic series, whose first term left out is below 1e-17.
double lgamma_of(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma_of(double x) {
  double result = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return kInfinity;
    // The tangent's period is one: the nearest integer off keeps the digits of a small x.
    result = -std::numbers::pi / std::tan(std::numbers::pi * (x - std::round(x)));
    x = 1 - x;
  }
  for (; x < 10; ++x) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

// The first terms one by one, the rest by the formula of Euler and Maclaurin.
double zeta_of(double x, double q) {
  if (std::isnan(x) || std::isnan(q) || x < 1) return kNan;
  if (x == 1) return kInfinity;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (x != std::floor(x)) return kNan;
  }
  double sum = 0, a = q;
  for (int i = 0; i < 12 || a < 12; ++i, ++a) sum += std::pow(a, -x);
  const double last = std::pow(a, -x);
  sum += last * a / (x - 1) + 0.5 * last;
  // B_2k / (2k)! for k = 1, 2, ...
  constexpr double kRatios[] = {1.0 / 12,
                                -1.0 / 720,
                                1.0 / 30240,
                                -1.0 / 1209600,
                                1.0 / 47900160,
                                -691.0 / 1307674368e3,
                                1.0 / 74724249600.0,
                                -3617.0 / 10670622842880e3};
  double power = x * last / a;
  for (int k = 0; k < 8; ++k) {
    const double term = kRatios[k] * power;
    sum += term;
    if (std::abs(term) < 1e-17 * std::abs(sum)) break;
    power *= (x + 2 * k + 1) * (x + 2 * k + 2) / (a * a);
  }
  return sum;
}

double polygamma_of(double n, double x) {
  if (std::isnan(n) || n < 0 || n != std::floor(n)) return kNan;
  if (n == 0) return digamma_of(x);
  const double factorial = std::exp(lgamma_of(n + 1));
  return (std::fmod(n, 2) == 0 ? -1 : 1) * factorial * zeta_of(n + 1, x);
}

}  // namespace weir::ops
