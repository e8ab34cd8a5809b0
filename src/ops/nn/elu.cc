#include <cmath>

#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct Elu {
  static constexpr auto kTile = cpu::UnaryFn::Elu;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? std::expm1(x) : x;
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, nn::elu_grad(c.output_grad(), c.output(0))); }

}  // namespace

OpDef elu_op() { return activation_op<Elu>("Elu", kActivationT, gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output elu(const In& features, std::string_view name) { return NodeBuilder("Elu", name).input(features).output(); }

}  // namespace weir::nn
