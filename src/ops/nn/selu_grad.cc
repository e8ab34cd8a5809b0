#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

// Klambauer et al., "Self-normalizing neural networks", 2017.
constexpr double kScale = 1.0507009873554804934193349852946, kAlpha = 1.6732632423543772848170429916717;

struct SeluGrad {
  static constexpr auto kTile = cpu::BinaryFn::SeluGrad;
  template <class T>
  T operator()(T dy, T y) const {
    return y < T(0) ? dy * (y + T(kScale * kAlpha)) : dy * T(kScale);
  }
};

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::selu_grad(c.output_grad(), c.input(1)));
  Output negative_part = c.input(1) < 0., product = c.output_grad() * c.input(0);
  c.set_input_grad(1, where(negative_part, product, zeros_like(c.input(1))));
}

}  // namespace

OpDef selu_grad_op() { return backprop_op<SeluGrad>("SeluGrad", "gradients:T; outputs:T", kActivationT, gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output selu_grad(const In& gradients, const In& outputs, std::string_view name) {
  return NodeBuilder("SeluGrad", name).input(gradients).input(outputs).output();
}

}  // namespace weir::nn
