#include "base/errors.h"
#include "devices/cpu/rows.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  auto require = [&](int index, int rank, const char* what) {
    const Shape& shape = c.input(index);
    if (shape.has_rank() && shape.rank() != rank) {
      throw invalid_argument("{} must be {}-D, but got shape {}", what, rank, shape.str());
    }
  };
  require(0, 2, "logits");
  require(1, 1, "labels");
  const Shape logits = c.input(0).merged(Shape::unknown_dims(2)), labels = c.input(1).merged(Shape::unknown_dims(1));
  if (!Shape{logits[0]}.compatible(labels)) {
    throw invalid_argument("one label for each row of logits is wanted: logits have shape {}, labels {}", logits.str(),
                           labels.str());
  }
  if (logits[1] == 0 && logits[0] != 0)
    throw invalid_argument("there must be at least one class; logits have {}", logits.str());
  const Shape rows = labels.merged(Shape{logits[0]});
  c.set_output(0, rows);
  c.set_output(1, Shape{rows[0], logits[1]});
}

void gradient(GradContext& c) {
  Output grad = prevent_gradient(c.output(1),
                                 "Currently there is no way to take the second derivative of "
                                 "sparse_softmax_cross_entropy_with_logits due to the fused implementation's "
                                 "interaction with tf.gradients()");
  c.set_input_grad(0, expand_dims(c.output_grad(0), -1) * grad);
}

template <class T, class Label>
int64_t rows_of(KernelContext& c, const RowShape& shape) {
  const T* logits = c.input<T>(0);
  const Label* labels = c.input<Label>(1);
  T *loss = c.output<T>(0), *backprop = c.output<T>(1);
  for (int64_t row = 0; row < shape.rows; ++row) {
    if (labels[row] < 0 || labels[row] >= shape.columns) return row;
  }
  c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * shape.columns;
      const RowExp<T> exps(logits + at, shape.columns);
      const int64_t label = at + labels[row];
      loss[row] = static_cast<T>(std::log(exps.sum) - (logits[label] - exps.largest));
      for (int64_t i = at; i < at + shape.columns; ++i) {
        const Wide<T> probability = std::exp(logits[i] - exps.largest) / exps.sum;
        backprop[i] = static_cast<T>(probability - (i == label ? 1 : 0));
      }
    }
  });
  return -1;
}

template <class Label>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const RowShape shape(c.shape(0));
    int64_t bad;
    if constexpr (std::is_same_v<T, float>) {
      bad = cpu::sparse_softmax_cross_entropy(c.input<float>(0), c.input<Label>(1), shape.rows, shape.columns,
                                              c.output<float>(0), c.output<float>(1), c.pool());
    } else {
      bad = rows_of<T, Label>(c, shape);
    }
    if (bad >= 0) {
      throw invalid_argument("Received a label value of {} which is outside the valid range of [0, {}) in row {}",
                             c.input<Label>(1)[bad], shape.columns, bad);
    }
  }
};

ComputeFn select(const NodeView& node) {
  return node.type("Tlabels") == DType::Int32 ? kernel_for<FloatTypes, Cpu<int32_t>>(node)
                                              : kernel_for<FloatTypes, Cpu<int64_t>>(node);
}

}  // namespace

OpDef sparse_softmax_cross_entropy_op() {
  return {.name = "SparseSoftmaxCrossEntropyWithLogits",
          .inputs = "features:T; labels:Tlabels",
          .outputs = "loss:T; backprop:T",
          .attrs = "T:type{half,bfloat16,float,double}; Tlabels:type{int32,int64}=int64",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select}};
}

}  // namespace weir::ops
