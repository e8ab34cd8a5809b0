#include "ops/math/division.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = conj(c.input(0)), y = conj(c.input(1));
  Output x_grad = divide(dz, y);
  Output y_grad = dz * divide(divide(-x, y), y);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef div_op() {
  return binary_op<Division, ArithmeticTypes>({.name = "Div", .attrs = kArithmeticT, .gradient = gradient});
}

}  // namespace weir::ops
