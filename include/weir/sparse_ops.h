#pragma once

#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

// Tensors of which few elements are there: indices [n, rank] (int64), a row of coordinates for each value; values [n];
// and dense_shape [rank] (int64). Where nothing else is said the rows must be in the order of dense tensors
// (sparse_reorder).
namespace weir {

struct SparseTensor {
  Output indices, values, dense_shape;
};
// The same as an argument.
struct SparseInput {
  In indices, values, dense_shape;
  SparseInput(In i, In v, In s) : indices(std::move(i)), values(std::move(v)), dense_shape(std::move(s)) {}
  SparseInput(const SparseTensor& t) : indices(t.indices), values(t.values), dense_shape(t.dense_shape) {}  // NOLINT
};

// The same values with rows in order.
WEIR_API SparseTensor sparse_reorder(const SparseInput& input, std::string_view name = {});
// Sums whose size is below `thresh` are left out; zero keeps all.
WEIR_API SparseTensor sparse_add(const SparseInput& a, const SparseInput& b, const In& thresh,
                                 std::string_view name = {});

}  // namespace weir
