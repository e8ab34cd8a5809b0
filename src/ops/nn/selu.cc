#include <cmath>

#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

// Klambauer et al., "Self-normalizing neural networks", 2017.
constexpr double kScale = 1.0507009873554804934193349852946, kAlpha = 1.6732632423543772848170429916717;

struct Selu {
  static constexpr auto kTile = cpu::UnaryFn::Selu;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return x < T(0) ? T(kScale * kAlpha) * std::expm1(x) : T(kScale) * x;
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, nn::selu_grad(c.output_grad(), c.output(0))); }

}  // namespace

OpDef selu_op() { return activation_op<Selu>("Selu", kActivationT, gradient); }

}  // namespace weir::ops

namespace weir::nn {

Output selu(const In& features, std::string_view name) { return NodeBuilder("Selu", name).input(features).output(); }

}  // namespace weir::nn
