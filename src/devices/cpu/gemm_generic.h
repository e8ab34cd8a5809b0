#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "base/thread_pool.h"
#include "devices/cpu/gemm.h"

namespace weir::cpu {

// The type in which products of T are summed: float for types that only convert to it (half, bfloat16), and unsigned
// for integers, whose sums wrap around as TensorFlow's do.
template <class T, bool = std::is_integral_v<T>>
struct GemmSum {
  using Type = float;
};
template <class T>
struct GemmSum<T, true> {
  using Type = std::make_unsigned_t<T>;
};
template <>
struct GemmSum<float, false> {
  using Type = float;
};
template <>
struct GemmSum<double, false> {
  using Type = double;
};
template <class T>
struct GemmSum<std::complex<T>, false> {
  using Type = std::complex<T>;
};

// Matrix products of the types for which gemm() is not built: integers, half, bfloat16, complex. The same contract,
// but without scratch memory and epilogue: pieces of the operands are converted on the stack.
template <class T>
void gemm_generic(ThreadPool& pool, const Gemm<T>& g) {
  using Sum = typename GemmSum<T>::Type;
  constexpr int64_t kRows = 32, kColumns = 32, kDepth = 64;
  const int64_t down = (g.m + kRows - 1) / kRows, across = (g.n + kColumns - 1) / kColumns;
  // Small products share a task: about 64k multiplications are worth one.
  const int64_t work = std::min(g.m, kRows) * std::min(g.n, kColumns) * std::max<int64_t>(g.k, 1);
  pool.parallel_for(g.batch * down * across, std::max<int64_t>(1, 65536 / std::max<int64_t>(work, 1)),
                    [&](int64_t begin, int64_t end) {
                      Sum sum[kRows][kColumns], a[kRows][kDepth], b[kDepth][kColumns];
                      for (int64_t task = begin; task < end; ++task) {
                        const int64_t batch = task / (down * across), row = task / across % down * kRows,
                                      column = task % across * kColumns;
                        const int64_t rows = std::min(kRows, g.m - row), columns = std::min(kColumns, g.n - column);
                        const T* from_a = g.a + batch * g.stride_a;
                        const T* from_b = g.b + batch * g.stride_b;
                        T* c = g.c + batch * g.stride_c + row * g.ldc + column;
                        for (int64_t i = 0; i < rows; ++i) {
                          for (int64_t j = 0; j < columns; ++j)
                            sum[i][j] = g.accumulate ? static_cast<Sum>(c[i * g.ldc + j]) : Sum(0);
                        }
                        for (int64_t k = 0; k < g.k; k += kDepth) {
                          const int64_t depth = std::min(kDepth, g.k - k);
                          for (int64_t i = 0; i < rows; ++i) {
                            for (int64_t t = 0; t < depth; ++t) {
                              a[i][t] = static_cast<Sum>(
                                  from_a[g.transpose_a ? (k + t) * g.lda + row + i : (row + i) * g.lda + k + t]);
                            }
                          }
                          for (int64_t t = 0; t < depth; ++t) {
                            for (int64_t j = 0; j < columns; ++j) {
                              b[t][j] = static_cast<Sum>(
                                  from_b[g.transpose_b ? (column + j) * g.ldb + k + t : (k + t) * g.ldb + column + j]);
                            }
                          }
                          for (int64_t i = 0; i < rows; ++i) {
                            for (int64_t t = 0; t < depth; ++t) {
                              for (int64_t j = 0; j < columns; ++j) sum[i][j] += a[i][t] * b[t][j];
                            }
                          }
                        }
                        for (int64_t i = 0; i < rows; ++i) {
                          for (int64_t j = 0; j < columns; ++j) c[i * g.ldc + j] = static_cast<T>(sum[i][j]);
                        }
                      }
                    });
}

}  // namespace weir::cpu
