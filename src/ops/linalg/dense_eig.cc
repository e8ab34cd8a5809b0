#include "ops/linalg/eigen.h"
// Eigen.h first: it sets what the others are compiled with.
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "ops/linalg/dense.h"

namespace weir::ops::dense {

template <class W>
bool self_adjoint_eig(const W* a, int64_t n, double* e, W* v) {
  const Eigen::SelfAdjointEigenSolver<Matrix<W>> result(Matrix<W>(view(a, n, n)),
                                                        v ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (result.info() != Eigen::Success) return false;
  std::copy_n(result.eigenvalues().data(), n, e);
  if (v) view(v, n, n) = result.eigenvectors();
  return true;
}

template bool self_adjoint_eig(const double*, int64_t, double*, double*);
template bool self_adjoint_eig(const std::complex<double>*, int64_t, double*, std::complex<double>*);

}  // namespace weir::ops::dense
