#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "nn/distributions/helpers.h"

namespace weir::distributions {
namespace {

// Acklam's rational approximation of the inverse: numerator and denominator in the middle and in the tails.
constexpr double kMiddle = 0.02425;
constexpr double kMiddleTop[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                 1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
constexpr double kMiddleBottom[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                                    6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
constexpr double kTailTop[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
constexpr double kTailBottom[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                  3.754408661907416e+00, 1.0};

Output polynomial(std::span<const double> coefficients, const Output& x) {
  Output value = zeros_like(x);
  for (double c : coefficients) value = value * x + c;
  return value;
}

}  // namespace

// 0.5 erfc in the middle; a series of three terms in the lower tail, and what is missing to 1 in the upper.
Output log_ndtr(const Output& x) {
  const bool single = x.dtype() == float32;
  const double lower = single ? -10 : -20, upper = single ? 5 : 8;
  auto ndtr = [](const Output& y) { return 0.5 * erfc(-std::sqrt(0.5) * y); };
  const Output middle = log(ndtr(maximum(x, lower))), far = minimum(x, lower);
  const Output inverse = 1.0 / square(far);
  const Output first = -1.0 * inverse, second = first * (-3.0 * inverse), third = second * (-5.0 * inverse);
  const Output series = 1.0 + first + second + third;
  const Output tail = -0.5 * square(far) - log(-far) - 0.5 * std::log(2.0 * std::numbers::pi) + log(series);
  return where(x > upper, -ndtr(-x), where(x > lower, middle, tail));
}

// One step of Newton's after the approximation.
Output ndtri(const Output& p) {
  const Output smaller = minimum(p, 1.0 - p);
  const Output q = clip_by_value(p, kMiddle, 1 - kMiddle) - 0.5;
  const Output middle = q * polynomial(kMiddleTop, q * q) / polynomial(kMiddleBottom, q * q);
  const Output t = sqrt(-2.0 * log(maximum(minimum(smaller, kMiddle), smallest(p.dtype()))));
  const Output tail = polynomial(kTailTop, t) / polynomial(kTailBottom, t);
  Output x = where(smaller < kMiddle, where(p < 0.5, tail, -tail), middle);
  const Output error = 0.5 * erfc(-x / std::numbers::sqrt2) - p;
  x = x - error * std::sqrt(2.0 * std::numbers::pi) * exp(0.5 * x * x);
  const Output infinite = number_like(p, std::numeric_limits<double>::infinity()) * ones_like(p);
  return where(equal(p, 0.0), -infinite, where(equal(p, 1.0), infinite, x));
}

}  // namespace weir::distributions
