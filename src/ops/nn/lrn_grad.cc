#include "devices/cpu/lrn_generic.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/nn/lrn_attrs.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/nn.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  check_lrn(c.attrs());
  c.set_output(0, c.input(0).merged(c.input(1)).merged(c.input(2)).merged(Shape::unknown_dims(4)));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& options = c.state<cpu::LrnOptions>();
    const RowShape shape(c.shape(0));
    const T *dy = c.input<T>(0), *x = c.input<T>(1), *y = c.input<T>(2);
    T* dx = c.output<T>();
    if constexpr (std::is_same_v<T, float>) {
      cpu::lrn_grad(dy, x, y, dx, shape.rows, shape.columns, options, c.pool());
    } else {
      c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
        cpu::lrn_grad_generic<float>(dy, x, y, dx, begin, end, shape.columns, options);
      });
    }
  }
};

}  // namespace

OpDef lrn_grad_op() {
  return {.name = "LRNGrad",
          .inputs = "input_grads:T; input_image:T; output_image:T",
          .outputs = "output:T",
          .attrs = kLrnAttrs,
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, Half, BFloat16>, Cpu>, .prepare = prepared<prepare_lrn>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output lrn_grad(const In& grads, const In& image, const In& output, const LrnOptions& options, std::string_view name) {
  NodeBuilder builder("LRNGrad", name);
  builder.input(grads).input(image).input(output);
  return ops::with_lrn_attrs(builder, options).output();
}

}  // namespace weir::nn
