#include <cmath>

#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/nn/lrn_state.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/nn.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  check_lrn(c.attrs());
  c.set_output(0, c.input(0).merged(c.input(1)).merged(c.input(2)).merged(Shape::unknown_dims(4)));
}

LrnState prepare(PrepareContext& c) { return LrnState(c.node().attrs()); }

// dx[i] = dy[i] * norm[i]^-beta - 2 * alpha * beta * x[i] * sum of dy[k] * y[k] / norm[k] around i
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<LrnState>();
    const RowShape shape(c.shape(0));
    const T *dy = c.input<T>(0), *x = c.input<T>(1), *y = c.input<T>(2);
    T* dx = c.output<T>();
    const int64_t channels = shape.columns;
    c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * channels;
        for (int64_t i = 0; i < channels; ++i) {
          float sum = 0;
          for (int64_t k = s.first(i); k < s.last(i, channels); ++k) {
            sum += dy[at + k] * y[at + k] / s.norm(x + at, channels, k);
          }
          const float direct = dy[at + i] * std::pow(s.norm(x + at, channels, i), -s.beta);
          dx[at + i] = static_cast<T>(direct - 2 * s.alpha * s.beta * x[at + i] * sum);
        }
      }
    });
  }
};

}  // namespace

OpDef lrn_grad_op() {
  return {.name = "LRNGrad",
          .inputs = "input_grads:T; input_image:T; output_image:T",
          .outputs = "output:T",
          .attrs = kLrnAttrs,
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, Half, BFloat16>, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output lrn_grad(const In& grads, const In& image, const In& output, const LrnOptions& options, std::string_view name) {
  NodeBuilder builder("LRNGrad", name);
  builder.input(grads).input(image).input(output);
  return ops::with_lrn_attrs(builder, options).output();
}

}  // namespace weir::nn
