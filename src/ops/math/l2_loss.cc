#include "devices/cpu/reduce.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/nn.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const T* x = c.input<T>(0);
    const int64_t n = c.elements(0);
    if constexpr (std::is_same_v<T, float>) {
      cpu::reduce(ReduceFn::SumSquares, x, {.reduced = n}, c.output<float>(), c.scratch(), c.pool());
      *c.output<float>() *= 0.5f;
    } else {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      *c.output<T>() = static_cast<T>(static_cast<Wide<T>>(sum / 2));
    }
  }
};

struct NoState {};
NoState prepare(PrepareContext& c) {
  if (c.node().type() == float32) {
    c.set_scratch(static_cast<size_t>(cpu::reduce_scratch_bytes({.reduced = c.input(0).elements()})));
  }
  return {};
}

void gradient(GradContext& c) { c.set_input_grad(0, c.input(0) * c.output_grad()); }

}  // namespace

// Half the sum of squares.
OpDef l2_loss_op() {
  return {.name = "L2Loss",
          .inputs = "t:T",
          .outputs = "output:T",
          .attrs = "T:type{half,bfloat16,float,double}",
          .infer = infer::scalar,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .loop = {LoopPart::Kind::ReduceAll, ReduceFn::SumSquares, 0.5f}};
}

}  // namespace weir::ops

namespace weir::nn {

Output l2_loss(const In& t, std::string_view name) { return NodeBuilder("L2Loss", name).input(t).output(); }

}  // namespace weir::nn
