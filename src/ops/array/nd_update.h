#pragma once

#include "base/errors.h"
#include "ops/array/nd_index.h"
#include "ops/math/functors.h"

namespace weir::ops {

// How slices of `updates` change the slices that rows of coordinates name.
enum class NdUpdate { Set, Add, Sub };

// `updates` (input 2 by convention) has the shape of the indices without their last dimension, followed by that of a
// slice.
inline void check_nd_updates(const Shape& into, const Shape& indices, const Shape& updates) {
  if (!into.has_rank() || !indices.has_rank() || indices[-1] == kUnknown) return;
  if (indices[-1] > into.rank()) {
    throw invalid_argument(
        "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:]; the last dimension of "
        "indices, {}, is longer than the rank of {}",
        indices.str(), into.str());
  }
  Shape expected;
  for (int i = 0; i < indices.rank() - 1; ++i) expected.append(indices[i]);
  for (int i = static_cast<int>(indices[-1]); i < into.rank(); ++i) expected.append(into[i]);
  if (!updates.compatible(expected)) {
    throw invalid_argument(
        "The outer {} dimensions of indices.shape={} must match the outer {} dimensions of updates.shape={}; "
        "updates of shape {} are wanted for {}",
        indices.rank() - 1, indices.str(), indices.rank() - 1, updates.str(), expected.str(), into.str());
  }
}

// Changes `data`, a tensor of shape `into`. Every row is checked before anything is written.
template <NdUpdate kHow, class T>
void update_slices(const KernelContext& c, int indices, int updates, const Shape& into, T* data) {
  const NdIndex index(c, indices, into);
  for (int64_t row = 0; row < index.rows; ++row) (void)index.slice_start(row);
  if (c.elements(updates) == 0) return;
  const T* from = c.input<T>(updates);
  for (int64_t row = 0; row < index.rows; ++row) {
    T* to = data + index.slice_start(row);
    for (int64_t i = 0; i < index.slice; ++i, ++from) {
      if constexpr (kHow == NdUpdate::Set) {
        to[i] = *from;
      } else if constexpr (kHow == NdUpdate::Add) {
        to[i] = static_cast<T>(wrapping_add(Wide<T>(to[i]), Wide<T>(*from)));
      } else {
        to[i] = static_cast<T>(wrapping_sub(Wide<T>(to[i]), Wide<T>(*from)));
      }
    }
  }
}

}  // namespace weir::ops
