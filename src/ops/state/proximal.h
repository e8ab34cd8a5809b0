#pragma once

#include <algorithm>
#include <cmath>

namespace weir::ops {

// The value nearest to `moved` when |x| costs l1 and x^2 / 2 costs l2, over a step of size lr.
template <class W>
W proximal(W moved, W lr, W l1, W l2) {
  if (l1 > 0) moved = std::copysign(std::max(std::abs(moved) - lr * l1, W(0)), moved);
  return moved / (1 + l2 * lr);
}

}  // namespace weir::ops
