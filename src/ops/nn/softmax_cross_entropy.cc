#include "autodiff/grad_context.h"
#include "base/errors.h"
#include "devices/cpu/rows.h"
#include "graph/infer_context.h"
#include "graph/node.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  Shape both;
  try {
    both = c.input(0).merged(c.input(1));
  } catch (const Error&) {
    throw invalid_argument("logits and labels must have one shape; they have {} and {}", c.input(0).str(),
                           c.input(1).str());
  }
  c.set_output(0, both.has_rank() ? Shape{both[0]} : Shape::unknown_dims(1));
  c.set_output(1, both.has_rank() ? both : Shape::unknown_dims(2));
}

bool is_zero(const Output& output) {
  if (output.op().type() == "ZerosLike") return true;
  Tensor value = constant_value(output);
  if (!value.valid() || !is_floating(value.dtype())) return false;
  // Only zeros of floating types have nothing but 0 bits, apart from -0.
  const auto* bytes = static_cast<const char*>(value.raw());
  return std::all_of(bytes, bytes + value.bytes(), [](char byte) { return byte == 0; });
}

Output scale_rows(const Output& by, const Output& matrix) { return expand_dims(by, -1) * matrix; }

void gradient(GradContext& c) {
  Output logits = c.input(0), loss_grad = c.output_grad(0);
  Output grad = scale_rows(loss_grad, c.output(1));
  if (c.has_output_grad(1) && !is_zero(c.output_grad(1))) {
    // A gradient of the gradient: that of softmax.
    Output softmax = nn::softmax(logits), second = c.output_grad(1);
    Output row = expand_dims(second, 1), column = expand_dims(softmax, 2);
    Output dot = squeeze(matmul(row, column), {1});
    grad = grad + (second - dot) * softmax;
  }
  c.set_input_grad(0, grad);
  c.set_input_grad(1, scale_rows(loss_grad, -nn::log_softmax(logits)));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const RowShape shape(c.shape(0));
    const T *logits = c.input<T>(0), *labels = c.input<T>(1);
    T *loss = c.output<T>(0), *backprop = c.output<T>(1);
    if constexpr (std::is_same_v<T, float>) {
      cpu::softmax_cross_entropy(logits, labels, shape.rows, shape.columns, loss, backprop, c.pool());
    } else {
      c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t at = row * shape.columns;
          const RowExp<T> exps(logits + at, shape.columns);
          const Wide<T> log_sum = std::log(exps.sum);
          Wide<T> total = 0;
          for (int64_t i = at; i < at + shape.columns; ++i) {
            const Wide<T> shifted = logits[i] - exps.largest, label = labels[i];
            total -= label * (shifted - log_sum);
            backprop[i] = static_cast<T>(std::exp(shifted) / exps.sum - label);
          }
          loss[row] = static_cast<T>(total);
        }
      });
    }
  }
};

}  // namespace

OpDef softmax_cross_entropy_op() {
  return {.name = "SoftmaxCrossEntropyWithLogits",
          .inputs = "features:T; labels:T",
          .outputs = "loss:T; backprop:T",
          .attrs = "T:type{half,bfloat16,float,double}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>}};
}

}  // namespace weir::ops
