#include "ops/math/binary.h"

namespace weir::ops {
namespace {

// Integers are truncated.
struct Div {
  static constexpr auto kTile = cpu::BinaryFn::Div;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_div(x, y);
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    check_divisor(c, y);
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = conj(c.input(0)), y = conj(c.input(1));
  Output x_grad = divide(dz, y);
  Output y_grad = dz * divide(divide(-x, y), y);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef div_op() { return binary_op<Div, ArithmeticTypes>({.name = "Div", .attrs = kArithmeticT, .gradient = gradient}); }

}  // namespace weir::ops
