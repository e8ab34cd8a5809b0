#include <cmath>

#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct Softsign {
  static constexpr auto kTile = cpu::UnaryFn::Softsign;
  template <class T>
  T operator()(T x) const {
    return x / (std::abs(x) + T(1));
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, nn::softsign_grad(c.output_grad(), c.input(0))); }

}  // namespace

OpDef softsign_op() { return activation_op<Softsign>("Softsign", kActivationT, gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output softsign(const In& features, std::string_view name) {
  return NodeBuilder("Softsign", name).input(features).output();
}

}  // namespace weir::nn
