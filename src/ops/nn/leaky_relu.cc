#include <algorithm>
#include <type_traits>

#include "devices/cpu/tile.h"
#include "ops/nn/activation.h"

namespace weir::ops {
namespace {

struct State {
  float alpha;
};

State prepare(PrepareContext& c) { return {c.attr<float>("alpha")}; }

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::leaky_relu_grad(c.output_grad(), c.input(0), c.attr<float>("alpha")));
}

// By tiles, with the loops of this machine's instruction set.
void run_tiles(const float* x, float alpha, float* y, int64_t n) {
  static const cpu::BinaryTile greater = cpu::binary_tile(BinaryFn::Greater, cpu::Operands::VS);
  static const cpu::BinaryTile multiply = cpu::binary_tile(BinaryFn::Mul, cpu::Operands::VS);
  static const cpu::SelectTile select = cpu::select_tile(cpu::Operands::VV);
  const float zero = 0;
  float positive[cpu::kTileFloats], scaled[cpu::kTileFloats];
  for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
    const int64_t count = std::min(cpu::kTileFloats, n - i);
    greater(x + i, &zero, positive, count);
    multiply(x + i, &alpha, scaled, count);
    select(positive, x + i, scaled, y + i, count);
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto alpha = static_cast<T>(c.state<State>().alpha);  // rounded, as TensorFlow's
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) return run_tiles(x + begin, alpha, y + begin, end - begin);
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] > 0 ? x[i] : static_cast<T>(x[i] * alpha);
    });
  }
};

}  // namespace

OpDef leaky_relu_op() {
  return {.name = "LeakyRelu",
          .inputs = "features:T",
          .outputs = "activations:T",
          .attrs = "alpha:float=0.20000000298023224; T:type{half,bfloat16,float,double}=float",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir::nn {

Output leaky_relu(const In& features, float alpha, std::string_view name) {
  return NodeBuilder("LeakyRelu", name).input(features).attr("alpha", alpha).output();
}

}  // namespace weir::nn
