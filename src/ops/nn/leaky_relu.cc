#include <type_traits>

#include "ops/nn/activation.h"
#include "ops/nn/leaky_relu.h"

namespace weir::ops {
namespace {

struct State {
  float alpha;
};

State prepare(PrepareContext& c) { return {c.attr<float>("alpha")}; }

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::leaky_relu_grad(c.output_grad(), c.input(0), c.attr<float>("alpha")));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto alpha = static_cast<T>(c.state<State>().alpha);  // rounded, as TensorFlow's
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) return leak(x + begin, x + begin, alpha, y + begin, end - begin);
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
