#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Mul {
  static constexpr auto kTile = cpu::BinaryFn::Mul;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_mul(x, y);
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = conj(c.input(0)), y = conj(c.input(1));
  Output x_grad = multiply(dz, y);
  Output y_grad = multiply(x, dz);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef mul_op() {
  return binary_op<Mul, ArithmeticTypes>(
      {.name = "Mul", .attrs = kArithmeticT, .flags = "commutative", .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output multiply(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Mul", name).input(x).input(y).output();
}

Output operator*(const In& x, const In& y) { return NodeBuilder("Mul", "mul").input(x).input(y).output(); }

}  // namespace weir
