#pragma once

#include <string_view>

#include "weir/random_ops.h"

namespace weir::ops {

// Draws with `op` (mean 0, deviation 1), scales and shifts, in the nodes that TensorFlow makes.
Output scaled_normal(Graph& graph, std::string_view op, const In& shape, const RandomNormalOptions& options,
                     std::string_view name);

}  // namespace weir::ops
