#include "autodiff/grad_context.h"
#include "devices/cpu/rows.h"
#include "graph/infer_context.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  c.set_output(0, c.input(0));
}

void gradient(GradContext& c) {
  Output softmax = exp(c.output(0)), dy = c.output_grad();
  c.set_input_grad(0, dy - reduce_sum(dy, -1, true) * softmax);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const RowShape shape(c.shape(0));
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    if constexpr (std::is_same_v<T, float>) {
      cpu::log_softmax(x, y, shape.rows, shape.columns, c.pool());
    } else {
      c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = x + row * shape.columns;
          const RowExp<T> exps(from, shape.columns);
          const Wide<T> log_sum = std::log(exps.sum);
          for (int64_t i = 0; i < shape.columns; ++i) {
            y[row * shape.columns + i] = static_cast<T>(from[i] - exps.largest - log_sum);
          }
        }
      });
    }
  }
};

}  // namespace

OpDef log_softmax_op() {
  return {.name = "LogSoftmax",
          .inputs = "logits:T",
          .outputs = "logsoftmax:T",
          .attrs = "T:type{half,bfloat16,float,double}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir::nn {

Output log_softmax(const In& logits, std::string_view name) {
  return NodeBuilder("LogSoftmax", name).input(logits).output();
}

}  // namespace weir::nn
