#pragma once

#include <vector>

#include "base/errors.h"
#include "ops/array/array_util.h"

namespace weir::ops {

// Reads the splits of a ragged dimension: row i holds the elements [splits[i], splits[i + 1]) of what lies inside.
// Throws InvalidArgument unless they begin at 0, never fall, and end at most at `limit`.
inline std::vector<int64_t> read_splits(const KernelContext& c, int input, int64_t limit) {
  const int64_t n = c.elements(input);
  if (c.shape(input).rank() != 1)
    throw invalid_argument("row_splits must be a vector; it has shape {}", c.shape(input).str());
  if (n < 1) throw invalid_argument("Invalid ragged tensor: row_splits has no elements");
  std::vector<int64_t> splits(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = int_at(c, input, i);
    if (i == 0 ? at != 0 : at < splits[static_cast<size_t>(i - 1)]) {
      throw invalid_argument("Invalid ragged tensor: row_splits must start with 0 and never fall; element {} is {}", i,
                             at);
    }
    splits[static_cast<size_t>(i)] = at;
  }
  if (splits.back() > limit) {
    throw invalid_argument("Invalid ragged tensor: row_splits end at {}, beyond the {} elements inside", splits.back(),
                           limit);
  }
  return splits;
}

// The nested splits of inputs [first, first + count), around values with `rows` rows: each level ends where the next
// begins.
inline std::vector<std::vector<int64_t>> read_nested_splits(const KernelContext& c, int first, int count,
                                                            int64_t rows) {
  if (c.shape(first + count).rank() < 1)
    throw invalid_argument("values of a ragged tensor have at least one dimension");
  std::vector<std::vector<int64_t>> nested;
  for (int i = 0; i < count; ++i) {
    const int64_t inside = i + 1 < count ? c.elements(first + i + 1) - 1 : rows;
    nested.push_back(read_splits(c, first + i, inside));
  }
  return nested;
}

// Splits as a tensor of int32 or int64.
inline Tensor splits_tensor(const std::vector<int64_t>& splits, DType dtype) {
  if (dtype == DType::Int64) return Tensor(splits);
  std::vector<int32_t> narrow;
  for (int64_t at : splits) {
    if (at > INT32_MAX) throw invalid_argument("row_splits of int32 cannot hold {}", at);
    narrow.push_back(static_cast<int32_t>(at));
  }
  return Tensor(narrow);
}

// Rows [begin, end) of a tensor, copied.
Tensor copy_rows(const Tensor& values, int64_t begin, int64_t end);
// Tensors that differ in their number of rows alone, one behind the other.
Tensor join_rows(const std::vector<Tensor>& parts);

}  // namespace weir::ops
