#include "devices/cpu/rows.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  Output softmax = exp(c.output(0)), dy = c.output_grad();
  c.set_input_grad(0, dy - reduce_sum(dy, -1, true) * softmax);
}

struct LogSoftmax {
  double log_sum;
  explicit LogSoftmax(double sum) : log_sum(std::log(sum)) {}
  template <class W>
  W operator()(W shifted) const {
    return shifted - static_cast<W>(log_sum);
  }
  static void fast(const float* x, float* y, int64_t rows, int64_t columns, ThreadPool& pool) {
    cpu::log_softmax(x, y, rows, columns, pool);
  }
};

}  // namespace

OpDef log_softmax_op() {
  return {.name = "LogSoftmax",
          .inputs = "logits:T",
          .outputs = "logsoftmax:T",
          .attrs = "T:type{half,bfloat16,float,double}",
          .infer = infer_softmax,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, SoftmaxKernel<LogSoftmax>>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir::nn {

Output log_softmax(const In& logits, std::string_view name) {
  return NodeBuilder("LogSoftmax", name).input(logits).output();
}

}  // namespace weir::nn
