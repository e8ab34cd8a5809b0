#include "ops/linalg/eigen.h"
// Eigen.h first: it sets what the others are compiled with.
#include <unsupported/Eigen/MatrixFunctions>

#include "ops/linalg/dense.h"

namespace weir::ops::dense {

using Complex = std::complex<double>;

void exponential(const Complex* a, int64_t n, Complex* result) {
  view(result, n, n) = Matrix<Complex>(view(a, n, n)).exp();
}
void logarithm(const Complex* a, int64_t n, Complex* result) {
  view(result, n, n) = Matrix<Complex>(view(a, n, n)).log();
}
void square_root(const Complex* a, int64_t n, Complex* result) {
  view(result, n, n) = Matrix<Complex>(view(a, n, n)).sqrt();
}

}  // namespace weir::ops::dense
