#include "devices/cpu/lrn_generic.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/lrn_attrs.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 4);
  check_lrn(c.attrs());
  c.set_output(0, c.input(0).merged(Shape::unknown_dims(4)));
}

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::lrn_grad(c.output_grad(), c.input(0), c.output(0),
                                   {.depth_radius = c.attr<int64_t>("depth_radius"),
                                    .bias = c.attr<float>("bias"),
                                    .alpha = c.attr<float>("alpha"),
                                    .beta = c.attr<float>("beta")}));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& options = c.state<cpu::LrnOptions>();
    const RowShape shape(c.shape(0));
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    if constexpr (std::is_same_v<T, float>) {
      cpu::lrn(x, y, shape.rows, shape.columns, options, c.pool());
    } else {
      c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
        cpu::lrn_generic<float>(x, y, begin, end, shape.columns, options);
      });
    }
  }
};

}  // namespace

OpDef lrn_op() {
  return {.name = "LRN",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kLrnAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<float, Half, BFloat16>, Cpu>, .prepare = prepared<prepare_lrn>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output lrn(const In& input, const LrnOptions& options, std::string_view name) {
  NodeBuilder builder("LRN", name);
  builder.input(input);
  return ops::with_lrn_attrs(builder, options).output();
}

}  // namespace weir::nn
