#include <cmath>

#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct SoftplusGrad {
  static constexpr auto kTile = cpu::BinaryFn::SoftplusGrad;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T dy, T x) const {
    return dy / (std::exp(-x) + T(1));
  }
};

void gradient(GradContext& c) {
  Output dy = c.input(0), x = c.input(1), grad = c.output_grad();
  Scope after = c.graph().control_dependencies({grad.op()});
  c.set_input_grad(0, nn::softplus_grad(grad, x));
  Output product = grad * dy, low = exp(-x) + 2.0;
  c.set_input_grad(1, product / (low + exp(x)));
}

}  // namespace

OpDef softplus_grad_op() {
  return backprop_op<SoftplusGrad>("SoftplusGrad", "gradients:T; features:T", kActivationT, gradient);
}

}  // namespace weir::ops

namespace weir::nn {

Output softplus_grad(const In& gradients, const In& features, std::string_view name) {
  return NodeBuilder("SoftplusGrad", name).input(gradients).input(features).output();
}

}  // namespace weir::nn
