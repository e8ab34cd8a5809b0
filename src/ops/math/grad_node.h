#pragma once

#include <string_view>

#include "weir/graph.h"

namespace weir::ops {

// A node of one of the operations that only gradients use, such as TanhGrad(y, dy).
inline Output grad_node(std::string_view op, const Output& y, const Output& dy) {
  return NodeBuilder(op).input(y).input(dy).output();
}

}  // namespace weir::ops
