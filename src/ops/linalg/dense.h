#pragma once

#include <complex>
#include <cstdint>

// Decompositions and functions of one dense matrix, from Eigen. Matrices are row-major, of double or of
// std::complex<double> (W): other types are converted, which costs little beside the work and keeps the digits that
// single precision loses. No function changes its inputs; results may not overlap them.
namespace weir::ops::dense {

// a (m x n) = u diag(s) v^H. s, descending, has min(m, n) elements. u (m x m) and v (n x n); when not `full` their
// first min(m, n) columns. u and v null: singular values only.
template <class W>
void svd(const W* a, int64_t m, int64_t n, bool full, double* s, W* u, W* v);

// a (m x n) = q r. q (m x m) and r (m x n); when not `full` the first min(m, n) columns of q and rows of r.
template <class W>
void qr(const W* a, int64_t m, int64_t n, bool full, W* q, W* r);

// Eigenvalues e, ascending, and eigenvectors v (n x n, in columns; null: none wanted) of a matrix that equals its
// conjugate transpose; only the lower half is read. False when the iteration does not converge.
template <class W>
bool self_adjoint_eig(const W* a, int64_t n, double* e, W* v);

// The x (n x k) of least norm that minimises |a x - b|, for a (m x n) of any rank and b (m x k).
template <class W>
void least_squares(const W* a, int64_t m, int64_t n, const W* b, int64_t k, W* x);

// Functions of a square matrix, in complex numbers. The principal branches of logarithm and root.
void exponential(const std::complex<double>* a, int64_t n, std::complex<double>* result);
void logarithm(const std::complex<double>* a, int64_t n, std::complex<double>* result);
void square_root(const std::complex<double>* a, int64_t n, std::complex<double>* result);

}  // namespace weir::ops::dense
