#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/rows.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void require_place(int64_t n, int64_t columns) {
  if (n < 0) throw invalid_argument("n must be non-negative but is {}", n);
  if (columns != kUnknown && columns <= n) {
    throw invalid_argument("Input must have last dimension > n = {} but is {}", n, columns);
  }
}

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  c.require_scalar(1);
  const auto n = c.value_as_ints(1);
  const Shape& input = c.input(0);
  if (n) require_place((*n)[0], input.has_rank() ? input[-1] : kUnknown);
  if (!input.has_rank()) return;
  c.set_output(0, Shape(input.dims().first(static_cast<size_t>(input.rank() - 1))));
}

// Equal elements share the gradient.
void gradient(GradContext& c) {
  Output x = c.input(0);
  Output chosen = expand_dims(c.output(0), -1), grad = expand_dims(c.output_grad(), -1);
  Output indicators = cast(equal(x, chosen), x.dtype());
  Output count = expand_dims(reduce_sum(indicators, {.axes = {-1}}), -1);
  c.set_input_grad(0, indicators / count * grad);
}

KernelState prepare(PrepareContext& c) {
  c.set_scratch(static_cast<size_t>(c.input(0)[-1]) * static_cast<size_t>(c.threads()) * sizeof(int64_t));
  return KernelState(nullptr, [](void*) {});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const RowShape shape(c.shape(0));
    const int64_t n = c.scalar<int32_t>(1);
    require_place(n, shape.columns);
    const int64_t place = c.node().attr<bool>("reverse") ? shape.columns - 1 - n : n;
    c.pool().parallel_for(shape.rows, shape.grain(), [&](int64_t begin, int64_t end) {
      T* row = static_cast<T*>(c.scratch()) + ThreadPool::thread_index() * shape.columns;
      for (int64_t r = begin; r < end; ++r) {
        std::copy_n(c.input<T>(0) + r * shape.columns, shape.columns, row);
        std::nth_element(row, row + place, row + shape.columns);
        c.output<T>()[r] = row[place];
      }
    });
  }
};

}  // namespace

OpDef nth_element_op() {
  return {.name = "NthElement",
          .inputs = "input:T; n:int32",
          .outputs = "values:T",
          .attrs = "reverse:bool=False; T:realnumbertype",
          .host = "n",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Cpu>, .prepare = prepare}};
}

}  // namespace weir::ops
