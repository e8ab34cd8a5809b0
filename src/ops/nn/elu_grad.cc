#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct EluGrad {
  static constexpr auto kTile = cpu::BinaryFn::EluGrad;
  template <class T>
  T operator()(T dy, T y) const {
    return y < T(0) ? dy * (y + T(1)) : dy;
  }
};

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::elu_grad(c.output_grad(), c.input(1)));
  Output negative_part = c.input(1) < 0, product = c.output_grad() * c.input(0);
  c.set_input_grad(1, where(negative_part, product, zeros_like(c.input(1))));
}

}  // namespace

OpDef elu_grad_op() { return backprop_op<EluGrad>("EluGrad", "gradients:T; outputs:T", kActivationT, gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output elu_grad(const In& gradients, const In& outputs, std::string_view name) {
  return NodeBuilder("EluGrad", name).input(gradients).input(outputs).output();
}

}  // namespace weir::nn
