#include <cmath>

#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct SoftsignGrad {
  static constexpr auto kTile = cpu::BinaryFn::SoftsignGrad;
  template <class T>
  T operator()(T dy, T x) const {
    const T d = std::abs(x) + T(1);
    return dy / (d * d);
  }
};

}  // namespace

OpDef softsign_grad_op() {
  return backprop_op<SoftsignGrad>("SoftsignGrad", "gradients:T; features:T", kActivationT, nullptr);
}

}  // namespace weir::ops

namespace weir::nn {

Output softsign_grad(const In& gradients, const In& features, std::string_view name) {
  return NodeBuilder("SoftsignGrad", name).input(gradients).input(features).output();
}

}  // namespace weir::nn
