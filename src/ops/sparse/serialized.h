#pragma once

#include <string>
#include <vector>

#include "weir/tensor.h"

namespace weir::ops {

// A sparse tensor by itself. `shape` has an element for each dimension.
struct SparseValue {
  Tensor indices, values;
  std::vector<int64_t> shape;
};

// Rows of a sparse tensor along its first dimension: one of lower rank for each.
std::vector<SparseValue> sparse_rows(const Tensor& indices, const Tensor& values, const Tensor& shape);
// The other way: parts of one rank become rows of one more, and of the largest sizes among them.
SparseValue joined_rows(const std::vector<SparseValue>& parts, DType dtype);

}  // namespace weir::ops
