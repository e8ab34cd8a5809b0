#include <algorithm>
#include <type_traits>

#include "devices/cpu/tile.h"
#include "ops/nn/activation.h"
#include "ops/nn/leaky_relu.h"

namespace weir::ops {

void leak(const float* dy, const float* x, float alpha, float* dx, int64_t n) {
  static const cpu::BinaryTile greater = cpu::binary_tile(BinaryFn::Greater, cpu::Operands::VS);
  static const cpu::BinaryTile multiply = cpu::binary_tile(BinaryFn::Mul, cpu::Operands::VS);
  static const cpu::SelectTile select = cpu::select_tile(cpu::Operands::VV);
  const float zero = 0;
  float positive[cpu::kTileFloats], scaled[cpu::kTileFloats];
  for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
    const int64_t count = std::min(cpu::kTileFloats, n - i);
    greater(x + i, &zero, positive, count);
    multiply(dy + i, &alpha, scaled, count);
    select(positive, dy + i, scaled, dx + i, count);
  }
}

namespace {

struct State {
  float alpha;
};

State prepare(PrepareContext& c) { return {c.attr<float>("alpha")}; }

void gradient(GradContext& c) {
  Output x = c.input(1);
  c.set_input_grad(0, nn::leaky_relu_grad(c.output_grad(), x, c.attr<float>("alpha")));
  c.set_input_grad(1, zeros(c.graph(), shape(x), x.dtype()));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto alpha = static_cast<Wide<T>>(c.state<State>().alpha);
    const T *dy = c.input<T>(0), *x = c.input<T>(1);
    T* dx = c.output<T>();
    c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) return leak(dy + begin, x + begin, alpha, dx + begin, end - begin);
      for (int64_t i = begin; i < end; ++i) dx[i] = x[i] > 0 ? dy[i] : static_cast<T>(dy[i] * alpha);
    });
  }
};

}  // namespace

OpDef leaky_relu_grad_op() {
  return {.name = "LeakyReluGrad",
          .inputs = "gradients:T; features:T",
          .outputs = "backprops:T",
          .attrs = "alpha:float=0.20000000298023224; T:type{half,bfloat16,float,double}=float",
          .infer = infer::merged,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>, .in_place = 0b11}};
}

}  // namespace weir::ops

namespace weir::nn {

Output leaky_relu_grad(const In& gradients, const In& features, float alpha, std::string_view name) {
  return NodeBuilder("LeakyReluGrad", name).input(gradients).input(features).attr("alpha", alpha).output();
}

}  // namespace weir::nn
