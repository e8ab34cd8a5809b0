#pragma once

#include <cstddef>

#include "collectives/transport.h"
#include "weir/dtype.h"

// Elements on their way to the other ranks and back.
namespace weir::collectives {

// Whether transports add elements of the type. Those of 16 bits travel as float32, where sums keep their digits.
bool is_transported(DType dtype);
// REQUIRES: is_transported(dtype).
Element element_of(DType dtype);

// Copies, as float32 when the type is not transported.
void to_wire(DType dtype, const void* from, void* to, size_t count);
void from_wire(DType dtype, const void* from, void* to, size_t count);
// Multiplies in place; integers stay as they are.
void scale(DType dtype, void* data, size_t count, double factor);

}  // namespace weir::collectives
