#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct ReluGrad {
  static constexpr auto kTile = cpu::BinaryFn::ReluGrad;
  template <class T>
  T operator()(T dy, T x) const {
    return x > T(0) ? dy : T(0);
  }
};

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::relu_grad(c.output_grad(), c.input(1)));
  c.set_input_grad(1, zeros(c.graph(), shape(c.input(1)), c.input(1).dtype()));
}

}  // namespace

OpDef relu_grad_op() {
  return backprop_op<ReluGrad, RealTypes>("ReluGrad", "gradients:T; features:T", "T:realnumbertype", gradient);
}

}  // namespace weir::ops

namespace weir::nn {

Output relu_grad(const In& gradients, const In& features, std::string_view name) {
  return NodeBuilder("ReluGrad", name).input(gradients).input(features).output();
}

}  // namespace weir::nn
