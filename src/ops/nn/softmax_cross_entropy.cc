#include "base/errors.h"
#include "devices/cpu/rows.h"
#include "graph/grad_context.h"
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
  const Shape &logits = c.input(0), &labels = c.input(1);
  Shape both = Shape::unknown_dims(2);
  for (int i = 0; logits.has_rank() && labels.has_rank() && i < 2; ++i) {
    const int64_t a = logits[i], b = labels[i];
    if (a != b && a != 1 && b != 1 && a != kUnknown && b != kUnknown) {
      throw invalid_argument("logits and labels must have one shape or stretch to one; they have {} and {}",
                             logits.str(), labels.str());
    }
    // A size that is not known is most likely that of the other, but a 1 might be stretched.
    both.set_dim(i, a == kUnknown || a == 1 ? (b == 1 ? a : b) : a);
  }
  c.set_output(0, Shape{both[0]});
  c.set_output(1, both);
}

bool is_zero(const Output& output) {
  if (output.op().type() == "ZerosLike") return true;
  Tensor value = constant_value(output);
  if (!value.valid() || !is_floating(value.dtype())) return false;
  // Only zeros of floating types have nothing but 0 bits, apart from -0.
  const auto* bytes = static_cast<const char*>(value.raw());
  return std::all_of(bytes, bytes + value.bytes(), [](char byte) { return byte == 0; });
}

// The gradient of an operand that was stretched, as far as the graph shows it.
Output summed_to(const Shape& shape, const Output& grad) {
  std::vector<int> axes;
  for (int i = 0; i < 2 && shape.has_rank() && grad.shape().has_rank(); ++i) {
    if (shape[i] == 1 && grad.shape()[i] > 1) axes.push_back(i);
  }
  return axes.empty() ? grad : reduce_sum(grad, axes, true);
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
  c.set_input_grad(0, summed_to(logits.shape(), grad));
  c.set_input_grad(1, summed_to(c.input(1).shape(), scale_rows(loss_grad, -nn::log_softmax(logits))));
}

// Room for operands that are stretched to the result's shape.
struct State {
  bool stretched;
};

State prepare(PrepareContext& c) {
  const bool stretched = c.input(0) != c.output(1) || c.input(1) != c.output(1);
  const size_t size = dtype_size(c.node().type());
  if (stretched) c.set_scratch(2 * static_cast<size_t>(c.output(1).elements()) * size);
  return {stretched};
}

template <class T>
const T* stretch(const T* from, const Shape& shape, const Shape& to, T* room) {
  for (int64_t i = 0; i < to[0]; ++i) {
    const T* row = from + (shape[0] == 1 ? 0 : i * shape[1]);
    for (int64_t j = 0; j < to[1]; ++j) room[i * to[1] + j] = row[shape[1] == 1 ? 0 : j];
  }
  return room;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape& whole = c.output_shape(1);
    const RowShape shape(whole);
    const T *logits = c.input<T>(0), *labels = c.input<T>(1);
    if (c.state<State>().stretched) {
      auto* room = static_cast<T*>(c.scratch());
      logits = stretch(logits, c.shape(0), whole, room);
      labels = stretch(labels, c.shape(1), whole, room + whole.elements());
    }
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
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
