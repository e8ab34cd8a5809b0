#pragma once

// Eigen, for the few files that instantiate its decompositions (dense_*.cc). They take long to compile, so everybody
// else calls the functions of dense.h. Nothing from outside may end the process: Eigen's assertions stay off, and only
// what its licence gives away freely is used.
#define EIGEN_NO_DEBUG
#define EIGEN_MPL2_ONLY
#include <Eigen/Core>
#include <complex>
#include <cstdint>

namespace weir::ops::dense {

// Ours are row-major; Eigen's own loops are written for columns.
template <class W>
using Matrix = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;
template <class W>
using Rows = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class W>
Eigen::Map<const Rows<W>> view(const W* data, int64_t rows, int64_t columns) {
  return {data, rows, columns};
}
template <class W>
Eigen::Map<Rows<W>> view(W* data, int64_t rows, int64_t columns) {
  return {data, rows, columns};
}

}  // namespace weir::ops::dense
