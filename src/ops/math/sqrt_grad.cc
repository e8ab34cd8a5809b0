#include "ops/math/activation_grad.h"
#include "ops/math/grad_node.h"

namespace weir::ops {
namespace {

// y = sqrt(x)
struct SqrtGrad {
  static constexpr auto kTile = cpu::BinaryFn::SqrtGrad;
  template <class T>
  T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : T(0.5) * dy / conjugate(y);
  }
};

void gradient(GradContext& c) {
  Output y = c.input(0), dx = c.output(0);
  Output ratio = c.output_grad() / y;
  c.set_input_grad(0, -conj(ratio) * dx);
  c.set_input_grad(1, 0.5 * ratio);
}

}  // namespace

OpDef sqrt_grad_op() { return activation_grad_op<SqrtGrad>("SqrtGrad", gradient); }

}  // namespace weir::ops
