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

// Half and bfloat16: each step is rounded, as TensorFlow and numpy do it.
struct Narrow {
  template <class T>
  static void run(KernelContext& c) {
    const T scale = static_cast<T>(float(kScale)), slope = static_cast<T>(float(kScale * kAlpha));
    c.pool().parallel_for(c.output_elements(), Selu::kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T x = c.input<T>(0)[i];
        const T below = static_cast<T>(static_cast<T>(std::exp(x)) - 1);
        c.output<T>()[i] = static_cast<T>(x < 0 ? slope * below : scale * x);
      }
    });
  }
};

ComputeFn select(const NodeView& node) {
  const ComputeFn narrow = kernel_for<Types<Half, BFloat16>, Narrow>(node);
  return narrow ? narrow : unary_op<Selu, Types<float, double>>("Selu", kActivationT, nullptr).cpu.select(node);
}

void gradient(GradContext& c) { c.set_input_grad(0, nn::selu_grad(c.output_grad(), c.output(0))); }

}  // namespace

OpDef selu_op() {
  OpDef def = activation_op<Selu>("Selu", kActivationT, gradient);
  def.cpu.select = select;
  return def;
}

}  // namespace weir::ops

namespace weir::nn {

Output selu(const In& features, std::string_view name) { return NodeBuilder("Selu", name).input(features).output(); }

}  // namespace weir::nn
