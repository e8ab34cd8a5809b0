#pragma once

#include "weir/tensor.h"

namespace weir {

// Whether an element is nothing but its bytes. Strings and objects have constructors; a handle is the same wherever it
// is read.
inline bool is_plain(DType dtype) {
  return dtype != DType::Invalid && dtype != DType::String && dtype != DType::Resource && dtype != DType::Variant;
}

// Copies elements of any type, strings included, between places that do not overlap.
void copy_elements(DType dtype, const void* from, void* to, int64_t count);

// The sizes that an int32 or int64 vector holds.
Shape values_as_shape(const Tensor& sizes);
// The same when only the shape of the vector is known: nothing but perhaps the number of dimensions.
Shape shape_of_length(const Shape& sizes);

}  // namespace weir
