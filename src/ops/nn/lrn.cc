#include <algorithm>
#include <cmath>

#include "autodiff/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/nn/lrn_state.h"
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

LrnState prepare(PrepareContext& c) { return LrnState(c.node().attrs()); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<LrnState>();
    const RowShape shape(c.shape(0));
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = x + row * shape.columns;
        for (int64_t i = 0; i < shape.columns; ++i) {
          y[row * shape.columns + i] = static_cast<T>(from[i] * std::pow(s.norm(from, shape.columns, i), -s.beta));
        }
      }
    });
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
          .cpu = {.select = kernel_for<Types<float, Half, BFloat16>, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output lrn(const In& input, const LrnOptions& options, std::string_view name) {
  NodeBuilder builder("LRN", name);
  builder.input(input);
  return ops::with_lrn_attrs(builder, options).output();
}

}  // namespace weir::nn
