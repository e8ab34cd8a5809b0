#include "ops/math/division.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = conj(c.input(0)), y = conj(c.input(1));
  Output x_grad = realdiv(dz, y);
  Output y_grad = dz * realdiv(realdiv(-x, y), y);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef real_div_op() {
  return binary_op<Division, ArithmeticTypes>({.name = "RealDiv", .attrs = kArithmeticT, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output realdiv(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("RealDiv", name).input(x).input(y).output();
}

}  // namespace weir
