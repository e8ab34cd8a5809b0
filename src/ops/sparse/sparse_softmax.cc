#include <cmath>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t rank = infer_sparse_input(c, 0);
  if (rank != kUnknown && rank < 2) throw invalid_argument("Input should have rank >= 2, but got: {}", rank);
  c.set_output(0, c.input(1));
}

// Over the values of each row, the last dimension. Rows stand together: indices are in order.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Coordinates from(c, 0, 2);
    const T* x = c.input<T>(1);
    T* y = c.output<T>();
    for (int64_t begin = 0, end = 0; begin < from.count; begin = end) {
      T largest = x[begin], sum = 0;
      for (end = begin; end < from.count && Coordinates::compare(from.row(begin), from.row(end), from.rank - 1) == 0;
           ++end) {
        largest = std::max(largest, x[end]);
      }
      for (int64_t i = begin; i < end; ++i) sum += y[i] = std::exp(x[i] - largest);
      for (int64_t i = begin; i < end; ++i) y[i] /= sum;
    }
  }
};

void gradient(GradContext& c) {
  Output y = c.output(0), grad = c.output_grad();
  Output sums = NodeBuilder("SparseReduceSum")
                    .input(c.input(0))
                    .input(y * grad)
                    .input(c.input(2))
                    .input(In({-1}))
                    .attr("keep_dims", true)
                    .output();
  Output less =
      NodeBuilder("SparseDenseCwiseAdd").input(c.input(0)).input(grad).input(c.input(2)).input(-sums).output();
  c.set_input_grad(1, less * y);
}

}  // namespace

OpDef sparse_softmax_op() {
  return {.name = "SparseSoftmax",
          .inputs = "sp_indices:int64; sp_values:T; sp_shape:int64",
          .outputs = "output:T",
          .attrs = "T:type{float,double}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>}};
}

}  // namespace weir::ops
