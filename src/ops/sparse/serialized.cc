#include "ops/sparse/serialized.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/array/element_type.h"

namespace weir::ops {
namespace {

// Elements [from, from + count) as a tensor of their own.
Tensor part_of(const Tensor& values, const std::vector<int64_t>& places) {
  Tensor part(values.dtype(), Shape{static_cast<int64_t>(places.size())});
  with_element_type(values.dtype(), [&]<class T>(T) {
    auto* to = static_cast<T*>(part.mutable_raw());
    for (int64_t i : places) *to++ = static_cast<const T*>(values.raw())[i];
  });
  return part;
}

}  // namespace

std::vector<SparseValue> sparse_rows(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  const int64_t rank = shape.elements(), count = indices.shape()[0];
  if (rank < 2) throw invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: {}", rank);
  const int64_t rows = shape.data<int64_t>()[0];
  if (rows < 0) throw invalid_argument("a sparse tensor of {} rows", rows);
  const int64_t* at = indices.data<int64_t>().data();
  std::vector<std::vector<int64_t>> places(static_cast<size_t>(rows));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = at[i * rank];
    if (row < 0 || row >= rows) {
      throw invalid_argument("Received unexpected column {} value in input SparseTensor: {} < 0 or >= N (= {})", 0, row,
                             rows);
    }
    places[static_cast<size_t>(row)].push_back(i);
  }
  std::vector<SparseValue> parts;
  for (const std::vector<int64_t>& here : places) {
    SparseValue part;
    std::vector<int64_t> coordinates;
    for (int64_t i : here) coordinates.insert(coordinates.end(), at + i * rank + 1, at + (i + 1) * rank);
    part.indices = Tensor(coordinates).reshaped(Shape{static_cast<int64_t>(here.size()), rank - 1});
    part.values = part_of(values, here);
    part.shape.assign(shape.data<int64_t>().begin() + 1, shape.data<int64_t>().end());
    parts.push_back(std::move(part));
  }
  return parts;
}

SparseValue joined_rows(const std::vector<SparseValue>& parts, DType dtype) {
  SparseValue all;
  all.shape.push_back(static_cast<int64_t>(parts.size()));
  int64_t count = 0;
  std::vector<int64_t> rows;
  for (size_t row = 0; row < parts.size(); ++row) {
    const SparseValue& part = parts[row];
    const size_t rank = part.shape.size();
    if (row == 0) all.shape.resize(rank + 1);
    if (rank + 1 != all.shape.size()) {
      throw invalid_argument(
          "Inconsistent rank across SparseTensors: rank prior to SparseTensor[{}] was: {} but rank of SparseTensor[{}] "
          "is: {}",
          row, all.shape.size(), row, rank + 1);
    }
    for (size_t d = 0; d < rank; ++d) all.shape[d + 1] = std::max(all.shape[d + 1], part.shape[d]);
    const int64_t* at = part.indices.data<int64_t>().data();
    for (int64_t i = 0; i < part.indices.shape()[0]; ++i) {
      rows.push_back(static_cast<int64_t>(row));
      rows.insert(rows.end(), at + i * static_cast<int64_t>(rank), at + (i + 1) * static_cast<int64_t>(rank));
    }
    count += part.indices.shape()[0];
  }
  all.indices = Tensor(rows).reshaped(Shape{count, static_cast<int64_t>(all.shape.size())});
  all.values = Tensor(dtype, Shape{count});
  with_element_type(dtype, [&]<class T>(T) {
    auto* to = static_cast<T*>(all.values.mutable_raw());
    for (const SparseValue& part : parts)
      to = std::copy_n(static_cast<const T*>(part.values.raw()), part.values.elements(), to);
  });
  return all;
}

}  // namespace weir::ops
