#pragma once

#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"

namespace weir::ops {

// Coordinates into the first dimensions of a shape, as rows of an index tensor [..., depth]: which slice each row
// means.
struct NdIndex {
  // `input` is the index tensor.
  NdIndex(const KernelContext& context, int index_input, const Shape& into);

  // The element where the slice of that row begins. Throws InvalidArgument when the row is out of range.
  int64_t slice_start(int64_t row) const;

  const KernelContext& c;
  int input;
  const Shape& shape;
  Strides strides;
  int depth;
  int64_t rows, slice;  // how many rows, elements of one slice
};

}  // namespace weir::ops
