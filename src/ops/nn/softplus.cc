#include <algorithm>
#include <cmath>

#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

// log(1 + exp(x)), written so that exp never overflows.
struct Softplus {
  static constexpr auto kTile = cpu::UnaryFn::Softplus;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * sigmoid(c.input(0))); }

}  // namespace

OpDef softplus_op() { return activation_op<Softplus>("Softplus", kActivationT, gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output softplus(const In& features, std::string_view name) {
  return NodeBuilder("Softplus", name).input(features).output();
}

}  // namespace weir::nn
