#include "ops/math/incomplete_gamma.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "ops/math/special.h"

namespace weir::ops {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kMostSteps = 20000;

// A number and its derivative by `a`: the same formulas give both.
struct Dual {
  double value, slope;
};
Dual operator+(Dual x, Dual y) { return {x.value + y.value, x.slope + y.slope}; }
Dual operator-(Dual x, Dual y) { return {x.value - y.value, x.slope - y.slope}; }
Dual operator*(Dual x, Dual y) { return {x.value * y.value, x.slope * y.value + x.value * y.slope}; }
Dual operator/(Dual x, Dual y) {
  const double value = x.value / y.value;
  return {value, (x.slope - value * y.slope) / y.value};
}
Dual constant(double x) { return {x, 0}; }

// x^a e^-x / gamma(a + 1)
Dual front(double a, double x) {
  const double value = std::exp(a * std::log(x) - x - lgamma_of(a + 1));
  return {value, value * (std::log(x) - digamma_of(a + 1))};
}

// P(a, x) as a series, for x up to about a.
Dual series(double a, double x) {
  Dual term = constant(1), sum = term, n{a, 1};
  for (int i = 0; i < kMostSteps; ++i) {
    n = n + constant(1);
    term = term * constant(x) / n;
    sum = sum + term;
    if (std::abs(term.value) <= kEpsilon * std::abs(sum.value) &&
        std::abs(term.slope) <= kEpsilon * std::abs(sum.slope))
      break;
  }
  return front(a, x) * sum;
}

// Q(a, x) as a continued fraction (Lentz), for larger x.
Dual fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  Dual b = constant(x + 1) - Dual{a, 1};
  Dual c = constant(1 / kTiny), d = constant(1) / b, h = d;
  for (int i = 1; i < kMostSteps; ++i) {
    const Dual an = constant(-i) * (constant(i) - Dual{a, 1});
    b = b + constant(2);
    d = an * d + b;
    if (std::abs(d.value) < kTiny) d.value = kTiny;
    c = b + an / c;
    if (std::abs(c.value) < kTiny) c.value = kTiny;
    d = constant(1) / d;
    const Dual step = d * c;
    h = h * step;
    if (std::abs(step.value - 1) <= kEpsilon && std::abs(step.slope) <= kEpsilon) break;
  }
  return front(a, x) * Dual{a, 1} * h;
}

bool below(double a, double x) { return x < a + 1; }

// The continued fraction of the incomplete beta function (Lentz).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double h = d;
  for (int m = 1; m < kMostSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      h *= d * c;
    }
    if (std::abs(d * c - 1) <= kEpsilon) break;
  }
  return h;
}

// The sum of (x/2)^(2k + order) / (k! (k + order)!), times e^-x: all terms are positive. For large x the asymptotic
// series.
double scaled_bessel(double x, int order) {
  if (x < 30) {
    double term = order == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; k < 500 && term > kEpsilon * sum / 4; ++k) {
      term *= x * x / 4 / (k * static_cast<double>(k + order));
      sum += term;
    }
    return sum * std::exp(-x);
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) {
    const double odd = 2 * k - 1, next = -term * (4. * order * order - odd * odd) / (8 * k * x);
    if (std::abs(next) >= std::abs(term)) break;
    sum += term = next;
  }
  return sum / std::sqrt(2 * M_PI * x);
}

}  // namespace

double lower_gamma_of(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0) return 0;
  if (std::isinf(x)) return 1;
  if (std::isinf(a)) return 0;
  return below(a, x) ? series(a, x).value : 1 - fraction(a, x).value;
}

double upper_gamma_of(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0) return 1;
  if (std::isinf(x)) return 0;
  if (std::isinf(a)) return 1;
  return below(a, x) ? 1 - series(a, x).value : fraction(a, x).value;
}

double lower_gamma_slope_of(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNan;
  if (x == 0 || std::isinf(x) || std::isinf(a)) return 0;
  return below(a, x) ? series(a, x).slope : -fraction(a, x).slope;
}

double beta_of(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNan;
  if (x == 0 || x == 1) return x;
  const double front =
      std::exp(lgamma_of(a + b) - lgamma_of(a) - lgamma_of(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double scaled_bessel_i0(double x) { return scaled_bessel(std::abs(x), 0); }
double scaled_bessel_i1(double x) { return std::copysign(scaled_bessel(std::abs(x), 1), x); }

}  // namespace weir::ops
