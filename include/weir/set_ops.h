#pragma once

#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/sequence_ops.h"

// Sets: the last dimension of a tensor, dense or sparse, holds the elements of a set, the dimensions before it say
// which set. Results are sparse, the elements of each set sorted and unique.
namespace weir::sets {

// A dense tensor, or a sparse one (all three of its parts).
struct Sets {
  Sets(const In& dense) : values(dense) {}                                                     // NOLINT
  Sets(const Output& dense, In::Where where = In::Where::current()) : values(dense, where) {}  // NOLINT
  Sets(const nn::SparseOutput& sparse, In::Where where = In::Where::current())                 // NOLINT
      : values(sparse.values, where), indices(sparse.indices), shape(sparse.dense_shape) {}
  In values;
  Output indices = {}, shape = {};  // empty for a dense tensor
  bool is_sparse() const { return static_cast<bool>(indices); }
};

// Both must have the same dimensions but the last; validate_indices: sparse indices must be in order.
WEIR_API nn::SparseOutput set_intersection(const Sets& a, const Sets& b, bool validate_indices = true);
WEIR_API nn::SparseOutput set_difference(const Sets& a, const Sets& b, bool aminusb = true,
                                         bool validate_indices = true);
WEIR_API nn::SparseOutput set_union(const Sets& a, const Sets& b, bool validate_indices = true);
// How many different elements each set has: int32, of the shape without the last dimension.
WEIR_API Output set_size(const nn::SparseOutput& a, bool validate_indices = true);

}  // namespace weir::sets
