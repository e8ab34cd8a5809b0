#include "ops/math/division.h"

namespace weir::ops {

// Of floating-point numbers nothing is truncated, in TensorFlow neither.
OpDef truncate_div_op() {
  return binary_op<Division, ArithmeticTypes>(
      {.name = "TruncateDiv", .attrs = kArithmeticT, .gradient = not_differentiable});
}

}  // namespace weir::ops

namespace weir {

Output truncatediv(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("TruncateDiv", name).input(x).input(y).output();
}

}  // namespace weir
