#include "ops/math/activation_grad.h"
#include "ops/math/grad_node.h"

namespace weir::ops {
namespace {

// y = sigmoid(x)
struct SigmoidGrad {
  static constexpr auto kTile = cpu::BinaryFn::SigmoidGrad;
  template <class T>
  T operator()(T y, T dy) const {
    return dy * y * (T(1) - y);
  }
};

void gradient(GradContext& c) {
  Output y = conj(c.input(0)), dy = conj(c.input(1)), grad = c.output_grad();
  Output product = grad * dy;
  c.set_input_grad(0, product - 2.0 * product * y);
  c.set_input_grad(1, grad_node("SigmoidGrad", y, grad));
}

}  // namespace

OpDef sigmoid_grad_op() { return activation_grad_op<SigmoidGrad>("SigmoidGrad", gradient); }

}  // namespace weir::ops
