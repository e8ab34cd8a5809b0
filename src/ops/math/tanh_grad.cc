#include "ops/math/activation_grad.h"
#include "ops/math/grad_node.h"

namespace weir::ops {
namespace {

// y = tanh(x)
struct TanhGrad {
  static constexpr auto kTile = cpu::BinaryFn::TanhGrad;
  template <class T>
  T operator()(T y, T dy) const {
    return dy * (T(1) - y * y);
  }
};

void gradient(GradContext& c) {
  Output y = conj(c.input(0)), dy = conj(c.input(1)), grad = c.output_grad();
  c.set_input_grad(0, grad * -2.0 * dy * y);
  c.set_input_grad(1, grad_node("TanhGrad", y, grad));
}

}  // namespace

OpDef tanh_grad_op() { return activation_grad_op<TanhGrad>("TanhGrad", gradient); }

}  // namespace weir::ops
