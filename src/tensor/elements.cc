#include "tensor/elements.h"

#include <algorithm>
#include <cstring>

#include "tensor/variant.h"

namespace weir {

void copy_elements(DType dtype, const void* from, void* to, int64_t count) {
  if (dtype == DType::String) {
    std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(to));
  } else if (dtype == DType::Variant) {
    std::copy_n(static_cast<const Variant*>(from), count, static_cast<Variant*>(to));
  } else if (count > 0) {  // memcpy takes no null pointers, not even for nothing
    std::memcpy(to, from, static_cast<size_t>(count) * dtype_size(dtype));
  }
}

Shape values_as_shape(const Tensor& sizes) {
  std::vector<int64_t> dims;
  if (sizes.dtype() == DType::Int32) {
    for (int32_t size : sizes.data<int32_t>()) dims.push_back(size);
  } else {
    for (int64_t size : sizes.data<int64_t>()) dims.push_back(size);
  }
  return Shape(dims);
}

Shape shape_of_length(const Shape& sizes) {
  const bool fits = sizes.rank() == 1 && sizes[0] >= 0 && sizes[0] <= 254;
  return fits ? Shape::unknown_dims(static_cast<int>(sizes[0])) : Shape::unknown();
}

}  // namespace weir
