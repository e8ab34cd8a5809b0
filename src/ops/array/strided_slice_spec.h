#pragma once

#include <cstdint>

#include "ops/array/strided_copy.h"
#include "weir/attr.h"
#include "weir/shape.h"

namespace weir::ops {

// Attributes of StridedSlice and its kin.
struct SliceMasks {
  explicit SliceMasks(const AttrMap& attrs);
  int64_t begin, end, ellipsis, new_axis, shrink_axis;
};

// Entries of begin, end and strides: int32 or int64, or not known (null).
struct SliceEntries {
  const void* data = nullptr;
  bool is_int32 = true;
  bool known() const { return data != nullptr; }
  int64_t operator[](int i) const {
    return is_int32 ? static_cast<const int32_t*>(data)[i] : static_cast<const int64_t*>(data)[i];
  }
};

// numpy's basic indexing, worked out for a tensor's shape: which elements are meant, dimension by dimension of the
// tensor, and what the result looks like.
struct StridedSliceSpec {
  // `count` entries each; begin and end may be unknown, and sizes of the shape too: sizes of the result are kUnknown
  // then. Throws InvalidArgument for a stride of 0, an index out of range, too many entries.
  StridedSliceSpec(const Shape& shape, int count, SliceEntries begin, SliceEntries end, SliceEntries strides,
                   const SliceMasks& masks);

  int rank;                 // of the tensor
  int64_t begin[kMaxRank];  // the first element, its distance to the next, how many
  int64_t stride[kMaxRank];
  int64_t size[kMaxRank];
  int result_rank = 0;
  int64_t result[2 * kMaxRank];

  Shape result_shape() const { return Shape(std::span<const int64_t>(result, static_cast<size_t>(result_rank))); }

 private:
  void resolve(int d, int64_t dim, int64_t first, int64_t last, bool known, bool begin_open, bool end_open,
               bool shrink);
};

}  // namespace weir::ops
