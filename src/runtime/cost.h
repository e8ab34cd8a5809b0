#pragma once

#include <span>
#include <string_view>

#include "weir/shape.h"

namespace weir {

// Roughly how long a kernel takes on one thread, in microseconds: good enough to tell small steps from large ones.
double estimate_microseconds(std::string_view op, std::span<const Shape* const> inputs,
                             std::span<const Shape* const> outputs);

// Floating point operations of a matrix product or convolution by the direct method; 0 for all others.
double count_flops(std::string_view op, std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);

}  // namespace weir
