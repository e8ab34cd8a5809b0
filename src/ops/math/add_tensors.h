#pragma once

#include "weir/tensor.h"

namespace weir::ops {

// The sum of two tensors of numbers. Throws InvalidArgument when their types or shapes differ or cannot be added.
Tensor add_tensors(const Tensor& x, const Tensor& y);

}  // namespace weir::ops
