#pragma once

// Special functions that the C++ library lacks.
namespace weir::ops {

// The logarithm of the absolute value of the gamma function, from any thread: std::lgamma writes to a global variable.
double lgamma_of(double x);

// The derivative of lgamma; infinity at its poles, as TensorFlow has it.
double digamma_of(double x);

// Hurwitz' zeta function, the sum of (q + k)^-x for k = 0, 1, ...: infinity where it diverges, NaN for x < 1 and for a
// power that is not an integer of a negative number.
double zeta_of(double x, double q);

// The derivative of order n of digamma; NaN unless n is an integer >= 0.
double polygamma_of(double n, double x);

}  // namespace weir::ops
