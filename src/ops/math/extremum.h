#pragma once

#include "ops/math/binary.h"

namespace weir::ops {

// The gradient of the larger or smaller of two goes to the one that was taken, to x where both are equal.
inline void set_extremum_grads(GradContext& c, const Output& x_wins) {
  Output dz = c.output_grad(), zeros = zeros_like(dz);
  Output x_grad = where(x_wins, dz, zeros);
  Output y_grad = where(x_wins, zeros, dz);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace weir::ops
