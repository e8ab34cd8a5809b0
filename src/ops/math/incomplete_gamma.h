#pragma once

// The incomplete gamma and beta functions, and Bessel functions.
namespace weir::ops {

// The regularized lower and upper incomplete gamma functions P(a, x) and Q(a, x) = 1 - P. NaN for x < 0 and a <= 0.
double lower_gamma_of(double a, double x);
double upper_gamma_of(double a, double x);
// dP/da.
double lower_gamma_slope_of(double a, double x);

// The regularized incomplete beta function I_x(a, b). NaN outside of 0 <= x <= 1 and for a or b that are not positive.
double beta_of(double a, double b, double x);

// exp(-|x|) times the modified Bessel functions of order 0 and 1.
double scaled_bessel_i0(double x);
double scaled_bessel_i1(double x);

}  // namespace weir::ops
