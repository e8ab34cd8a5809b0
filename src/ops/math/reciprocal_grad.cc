#include "ops/math/activation_grad.h"
#include "ops/math/grad_node.h"

namespace weir::ops {
namespace {

// y = 1 / x
struct ReciprocalGrad {
  static constexpr auto kTile = cpu::BinaryFn::ReciprocalGrad;
  template <class T>
  T operator()(T y, T dy) const {
    return dy == T(0) ? T(0) : -dy * conjugate(y) * conjugate(y);
  }
};

void gradient(GradContext& c) {
  Output y = conj(c.input(0)), dy = c.input(1), grad = c.output_grad();
  c.set_input_grad(0, conj(grad) * -2.0 * dy * y);
  c.set_input_grad(1, grad_node("ReciprocalGrad", y, grad));
}

}  // namespace

OpDef inv_grad_op() { return activation_grad_op<ReciprocalGrad>("InvGrad", gradient); }  // the old name
OpDef reciprocal_grad_op() { return activation_grad_op<ReciprocalGrad>("ReciprocalGrad", gradient); }

}  // namespace weir::ops
