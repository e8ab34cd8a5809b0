#pragma once

#include <cmath>
#include <complex>
#include <utility>

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"
#include "ops/types.h"

// What the operations on batches of matrices share.
namespace weir::ops {

using MatrixTypes = Types<float, double, std::complex<float>, std::complex<double>>;
using MatrixTypesWithHalf = decltype(MatrixTypes{} + Types<Half>{});
inline constexpr std::string_view kMatrixTypes = "T:type{double,float,half,complex64,complex128}";

// The type that matrices are factored in: sums of many products need more than single precision.
template <class T>
struct Precise {
  using Type = double;
};
template <class R>
struct Precise<std::complex<R>> {
  using Type = std::complex<double>;
};
template <class T>
using PreciseOf = typename Precise<T>::Type;

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

// The shape without its last `dims` dimensions.
inline Shape batch_of(const Shape& shape, int dims = 2) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - dims)));
}
inline int64_t matrix_count(const Shape& shape) { return batch_of(shape).elements(); }

// Input `index` is a batch of square matrices; its shape with both sizes filled in.
Shape infer_square(InferContext& c, int index);
// Output 0 is shaped like a batch of square matrices, input 0.
void infer_square_result(InferContext& c);
// Square matrices (input 0) against right-hand sides (input 1), which have the output's shape.
void infer_solve(InferContext& c);

// Copies a matrix into precise elements, transposed and conjugated if wanted.
template <class T>
void load(const T* from, int64_t rows, int64_t columns, bool adjoint, PreciseOf<T>* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const PreciseOf<T> x(from[i * columns + j]);
      if (adjoint) {
        to[j * rows + i] = conjugate(x);
      } else {
        to[i * columns + j] = x;
      }
    }
  }
}
template <class T>
T narrowed(PreciseOf<T> x) {
  return static_cast<T>(static_cast<Wide<T>>(x));
}
template <class T>
void store(const PreciseOf<T>* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = narrowed<T>(from[i]);
}

// Factors a (n x n) into P^-1 L U in place, with partial pivoting; order[i] is the row of a that stands at i. Gives the
// sign of the permutation, or 0 when the matrix is singular.
template <class W>
int factor(W* a, int64_t* order, int64_t n) {
  int sign = 1;
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (!(std::abs(a[pivot * n + k]) > 0)) return 0;
    if (pivot != k) {
      sign = -sign;
      std::swap(order[k], order[pivot]);
      for (int64_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const W f = a[i * n + k] /= a[k * n + k];
      if (f == W(0)) continue;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
    }
  }
  return sign;
}

// x := a^-1 x for a triangular matrix a (n x n) and x (n x m). `unit`: the diagonal counts as ones.
template <class W>
void solve_triangular(const W* a, int64_t n, bool lower, bool unit, W* x, int64_t m) {
  for (int64_t s = 0; s < n; ++s) {
    const int64_t i = lower ? s : n - 1 - s;
    for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) {
      const W f = a[i * n + k];
      for (int64_t j = 0; j < m; ++j) x[i * m + j] -= f * x[k * m + j];
    }
    if (unit) continue;
    for (int64_t j = 0; j < m; ++j) x[i * m + j] /= a[i * n + i];
  }
}

}  // namespace weir::ops
