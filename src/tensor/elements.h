#pragma once

#include "weir/tensor.h"

namespace weir {

// Copies elements of any type, strings included, between places that do not overlap.
void copy_elements(DType dtype, const void* from, void* to, int64_t count);

// The sizes that an int32 or int64 vector holds.
Shape values_as_shape(const Tensor& sizes);

}  // namespace weir
