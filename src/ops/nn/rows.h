#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace weir::ops
