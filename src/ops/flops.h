#pragma once

#include <span>

#include "weir/shape.h"

namespace weir::ops {

// For OpDef::flops. Of shapes that are not known, as much as of a thousand elements.
double product_flops(std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);
double batch_product_flops(std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);
double conv2d_flops(std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);
double conv2d_backprop_input_flops(std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);
double conv2d_backprop_filter_flops(std::span<const Shape* const> inputs, std::span<const Shape* const> outputs);

}  // namespace weir::ops
