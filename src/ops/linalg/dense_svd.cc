#include "ops/linalg/eigen.h"
// Eigen.h first: it sets what the others are compiled with.
#include <Eigen/SVD>
#include <algorithm>

#include "ops/linalg/dense.h"

namespace weir::ops::dense {

template <class W>
void svd(const W* a, int64_t m, int64_t n, bool full, double* s, W* u, W* v) {
  const unsigned vectors = full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::BDCSVD<Matrix<W>> result(Matrix<W>(view(a, m, n)), u ? vectors : 0);
  if (result.info() != Eigen::Success) {  // for numbers that are none
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(s, std::min(m, n), kNan);
    if (!u) return;
    std::fill_n(u, m * (full ? m : std::min(m, n)), W(kNan));
    std::fill_n(v, n * (full ? n : std::min(m, n)), W(kNan));
    return;
  }
  std::copy_n(result.singularValues().data(), std::min(m, n), s);
  if (!u) return;
  view(u, m, full ? m : std::min(m, n)) = result.matrixU();
  view(v, n, full ? n : std::min(m, n)) = result.matrixV();
}

template void svd(const double*, int64_t, int64_t, bool, double*, double*, double*);
template void svd(const std::complex<double>*, int64_t, int64_t, bool, double*, std::complex<double>*,
                  std::complex<double>*);

}  // namespace weir::ops::dense
