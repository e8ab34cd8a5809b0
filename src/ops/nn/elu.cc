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

// Half and bfloat16: each step is rounded, as TensorFlow and numpy do it.
struct Narrow {
  template <class T>
  static void run(KernelContext& c) {
    c.pool().parallel_for(c.output_elements(), Elu::kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T x = c.input<T>(0)[i];
        c.output<T>()[i] = static_cast<T>(x < 0 ? static_cast<T>(std::exp(x)) - 1 : static_cast<float>(x));
      }
    });
  }
};

ComputeFn select(const NodeView& node) {
  const ComputeFn narrow = kernel_for<Types<Half, BFloat16>, Narrow>(node);
  return narrow ? narrow : unary_op<Elu, Types<float, double>>("Elu", kActivationT, nullptr).cpu.select(node);
}

void gradient(GradContext& c) { c.set_input_grad(0, nn::elu_grad(c.output_grad(), c.output(0))); }

}  // namespace

OpDef elu_op() {
  OpDef def = activation_op<Elu>("Elu", kActivationT, gradient);
  def.cpu.select = select;
  return def;
}

}  // namespace weir::ops

namespace weir::nn {

Output elu(const In& features, std::string_view name) { return NodeBuilder("Elu", name).input(features).output(); }

}  // namespace weir::nn
