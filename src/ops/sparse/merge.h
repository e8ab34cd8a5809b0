#pragma once

#include "base/errors.h"
#include "ops/sparse/sparse.h"

namespace weir::ops {

inline void check_same_shape(const Coordinates& a, const Coordinates& b) {
  if (a.rank != b.rank) throw invalid_argument("Operands do not have the same ranks; got {} and {}", a.rank, b.rank);
  for (int64_t d = 0; d < a.rank; ++d) {
    if (a.dims[d] != b.dims[d]) {
      throw invalid_argument("Operands' shapes do not match: got {} and {} for dimension {}", a.dims[d], b.dims[d], d);
    }
  }
}

// Goes through two sparse tensors whose rows are in order, and calls visit(row, place in a, place in b) for every row
// that one of them has; -1 for the one that has not.
template <class Visit>
void merge_rows(const Coordinates& a, const Coordinates& b, const Visit& visit) {
  int64_t i = 0, j = 0;
  while (i < a.count || j < b.count) {
    const int order = i == a.count ? 1 : j == b.count ? -1 : Coordinates::compare(a.row(i), b.row(j), a.rank);
    visit(order <= 0 ? a.row(i) : b.row(j), order <= 0 ? i : -1, order >= 0 ? j : -1);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

}  // namespace weir::ops
