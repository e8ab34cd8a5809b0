#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"

// Functions of rows in the types that devices/cpu/rows.h does not cover.
namespace weir::ops {

// A tensor as a matrix whose rows are its last dimension.
struct RowShape {
  int64_t rows, columns;
  explicit RowShape(const Shape& shape) : rows(1), columns(shape[-1]) {
    for (int d = 0; d < shape.rank() - 1; ++d) rows *= shape[d];
  }
  // Rows of a parallel block that does about as much as 4096 exponentials.
  int64_t grain() const { return std::max<int64_t>(1, 4096 / std::max<int64_t>(columns, 1)); }
};

// The largest element of a row and the sum of exp(x - largest).
template <class T>
struct RowExp {
  Wide<T> largest, sum = 0;
  RowExp(const T* x, int64_t n) : largest(-std::numeric_limits<Wide<T>>::infinity()) {
    for (int64_t i = 0; i < n; ++i) largest = std::max<Wide<T>>(largest, x[i]);
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - largest);
  }
};

// Softmax and its logarithm: F::fast(...) for float, else F(sum of a row's exponentials)(x - largest) for its elements.
template <class F>
struct SoftmaxKernel {
  template <class T>
  static void run(KernelContext& c) {
    const RowShape shape(c.shape(0));
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    if constexpr (std::is_same_v<T, float>) {
      F::fast(x, y, shape.rows, shape.columns, c.pool());
    } else {
      c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = x + row * shape.columns;
          const RowExp<T> exps(from, shape.columns);
          const F f(static_cast<double>(exps.sum));
          for (int64_t i = 0; i < shape.columns; ++i) {
            y[row * shape.columns + i] = static_cast<T>(f(Wide<T>(from[i] - exps.largest)));
          }
        }
      });
    }
  }
};

inline void infer_softmax(InferContext& c) {
  c.require_min_rank(0, 1);
  c.set_output(0, c.input(0));
}

}  // namespace weir::ops
