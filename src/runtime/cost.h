#pragma once

#include <span>

#include "graph/op.h"
#include "weir/shape.h"

namespace weir {

// Roughly how long a kernel takes on one thread, in microseconds: good enough to tell small steps from large ones.
double estimate_microseconds(const Op& op, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);

// Floating point operations by the direct method, of those operations whose rows count them (matrix products and
// convolutions); 0 for all others.
double count_flops(const Op& op, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);

}  // namespace weir
