#include "devices/cpu/rows.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// dx = (dy - sum(dy * y)) * y: reads y only, so x can be freed early.
void gradient(GradContext& c) {
  Output y = c.output(0), dy = c.output_grad();
  Output dot = reduce_sum(dy * y, -1, true);
  c.set_input_grad(0, (dy - dot) * y);
}

struct Softmax {
  double sum;
  explicit Softmax(double row_sum) : sum(row_sum) {}
  template <class W>
  W operator()(W shifted) const {
    return std::exp(shifted) / static_cast<W>(sum);
  }
  static void fast(const float* x, float* y, int64_t rows, int64_t columns, ThreadPool& pool) {
    cpu::softmax(x, y, rows, columns, pool);
  }
};

}  // namespace

OpDef softmax_op() {
  return {.name = "Softmax",
          .inputs = "logits:T",
          .outputs = "softmax:T",
          .attrs = "T:type{half,bfloat16,float,double}",
          .infer = infer_softmax,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, SoftmaxKernel<Softmax>>, .in_place = 0b1},
          .loop = {LoopPart::Kind::Softmax}};
}

}  // namespace weir::ops

namespace weir::nn {

Output softmax(const In& logits, std::string_view name) { return NodeBuilder("Softmax", name).input(logits).output(); }

}  // namespace weir::nn
