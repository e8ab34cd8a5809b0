#pragma once

#include <utility>

#include "base/errors.h"
#include "ops/kernel.h"

namespace weir::ops {

// Writes facts about shapes (sizes, counts) as int32 or int64. Throws InvalidArgument for what does not fit.
inline void write_size(KernelContext& c, int output, DType dtype, int64_t i, int64_t size) {
  if (dtype == DType::Int64) {
    c.output<int64_t>(output)[i] = size;
    return;
  }
  if (size > INT32_MAX) throw invalid_argument("the size {} does not fit int32; ask for out_type int64", size);
  c.output<int32_t>(output)[i] = static_cast<int32_t>(size);
}

// The same facts while a graph or a plan is made, for OpDef::from_shape. Invalid when the shape does not tell yet, and
// when a size does not fit the type: the kernel says so when it is run.
template <class T>
Tensor sizes_as(const Shape& shape) {
  Tensor sizes(dtype_of<T>, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (!std::in_range<T>(shape[i])) return {};
    sizes.mutable_data<T>()[i] = static_cast<T>(shape[i]);
  }
  return sizes;
}
inline Tensor sizes_of(const Shape& shape, DType type) {
  if (!shape.is_known()) return {};
  return type == DType::Int32 ? sizes_as<int32_t>(shape) : sizes_as<int64_t>(shape);
}
inline Tensor count_as(int64_t count, DType type) {
  if (type == DType::Int64) return Tensor(count);
  return std::in_range<int32_t>(count) ? Tensor(static_cast<int32_t>(count)) : Tensor();
}
inline Tensor elements_of(const Shape& shape, DType type) {
  return shape.is_known() ? count_as(shape.elements(), type) : Tensor();
}
inline Tensor rank_of(const Shape& shape, DType type) {
  return shape.has_rank() ? count_as(shape.rank(), type) : Tensor();
}

}  // namespace weir::ops
