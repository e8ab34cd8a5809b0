#include "ops/sets/groups.h"

#include <algorithm>

namespace weir::ops {

SetOperation set_operation_named(const std::string& name) {
  if (name == "a-b") return SetOperation::AMinusB;
  if (name == "b-a") return SetOperation::BMinusA;
  if (name == "intersection") return SetOperation::Intersection;
  if (name == "union") return SetOperation::Union;
  throw invalid_argument("Invalid set_operation {}.", name);
}

SetState prepare_set_operation(PrepareContext& c) {
  return {set_operation_named(c.attr<std::string>("set_operation")), c.attr<bool>("validate_indices")};
}

void set_result_shapes(InferContext& c, int64_t rank) {
  (void)set_operation_named(c.attr<std::string>("set_operation"));
  c.set_output(0, {kUnknown, rank});
  c.set_output(1, {kUnknown});
  c.set_output(2, {rank});
}

void check_sparse(const KernelContext& c, int first, bool validate) {
  const int64_t count = c.shape(first)[0], rank = c.shape(first)[1];
  if (c.elements(first + 1) != count || c.elements(first + 2) != rank || rank < 1) {
    throw invalid_argument("{} values at indices of shape {} in a sparse tensor of rank {}", c.elements(first + 1),
                           c.shape(first).str(), c.elements(first + 2));
  }
  const auto *indices = c.input<int64_t>(first), *dims = c.input<int64_t>(first + 2);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* at = indices + i * rank;
    for (int64_t d = 0; d < rank; ++d) {
      if (at[d] < 0 || at[d] >= dims[d]) {
        throw invalid_argument("indices[{}] is out of bounds: {} is not in [0, {}) in dimension {}", i, at[d], dims[d],
                               d);
      }
    }
    if (!validate || i == 0) continue;
    if (std::lexicographical_compare(at, at + rank, at - rank, at)) {
      throw invalid_argument("indices[{}] is out of order. Many sparse ops require sorted indices.", i);
    }
    if (std::equal(at, at + rank, at - rank)) throw invalid_argument("indices[{}] is repeated", i);
  }
}

}  // namespace weir::ops
