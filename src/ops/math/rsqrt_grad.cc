#include "ops/math/activation_grad.h"
#include "ops/math/grad_node.h"

namespace weir::ops {
namespace {

// y = 1 / sqrt(x)
struct RsqrtGrad {
  static constexpr auto kTile = cpu::BinaryFn::RsqrtGrad;
  template <class T>
  T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : T(-0.5) * dy * conjugate(y) * conjugate(y) * conjugate(y);
  }
};

void gradient(GradContext& c) {
  Output y = conj(c.input(0)), dy = c.input(1), grad = c.output_grad();
  c.set_input_grad(0, -1.5 * conj(grad) * dy * square(y));
  c.set_input_grad(1, grad_node("RsqrtGrad", y, grad));
}

}  // namespace

OpDef rsqrt_grad_op() { return activation_grad_op<RsqrtGrad>("RsqrtGrad", gradient); }

}  // namespace weir::ops
