#include "ops/linalg/eigen.h"
// Eigen.h first: it sets what the others are compiled with.
#include <Eigen/QR>
#include <algorithm>

#include "ops/linalg/dense.h"

namespace weir::ops::dense {

template <class W>
void qr(const W* a, int64_t m, int64_t n, bool full, W* q, W* r) {
  const Eigen::HouseholderQR<Matrix<W>> result(Matrix<W>(view(a, m, n)));
  const int64_t inner = full ? m : std::min(m, n);
  Matrix<W> orthogonal = Matrix<W>::Identity(m, inner);
  orthogonal.applyOnTheLeft(result.householderQ());
  view(q, m, inner) = orthogonal;
  view(r, inner, n) = result.matrixQR().topRows(inner).template triangularView<Eigen::Upper>();
}

template <class W>
void least_squares(const W* a, int64_t m, int64_t n, const W* b, int64_t k, W* x) {
  const Eigen::CompleteOrthogonalDecomposition<Matrix<W>> result(Matrix<W>(view(a, m, n)));
  view(x, n, k) = result.solve(Matrix<W>(view(b, m, k)));
}

using Complex = std::complex<double>;
template void qr(const double*, int64_t, int64_t, bool, double*, double*);
template void qr(const Complex*, int64_t, int64_t, bool, Complex*, Complex*);
template void least_squares(const double*, int64_t, int64_t, const double*, int64_t, double*);
template void least_squares(const Complex*, int64_t, int64_t, const Complex*, int64_t, Complex*);

}  // namespace weir::ops::dense
