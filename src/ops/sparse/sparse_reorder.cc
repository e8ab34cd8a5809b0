#include <algorithm>
#include <numeric>

#include "graph/grad_context.h"
#include "ops/array/element_type.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"
#include "weir/sparse_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t rank = infer_sparse_input(c, 0);
  const int64_t count = c.input(0).has_rank() ? c.input(0)[0] : kUnknown;
  c.set_output(0, Shape{count, rank});
  c.set_output(1, Shape{count});
}

void cpu(KernelContext& c) {
  const Coordinates from(c, 0, 2, Coordinates::Rows::kAny);
  std::vector<int64_t> order(static_cast<size_t>(from.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return Coordinates::compare(from.row(a), from.row(b), from.rank) < 0; });
  for (size_t i = 0; i < order.size(); ++i) {
    std::copy_n(from.row(order[i]), from.rank, c.output<int64_t>(0) + static_cast<int64_t>(i) * from.rank);
  }
  with_element_type(c.dtype(1), [&]<class T>(T) {
    for (size_t i = 0; i < order.size(); ++i) c.output<T>(1)[i] = c.input<T>(1)[order[i]];
  });
}

// The gradient of each value is where the value went.
void gradient(GradContext& c) {
  Output numbers = range(0, subscript(shape(c.input(0)), {0}));
  Output order = sparse_reorder({c.input(0), numbers, c.input(2)}).values;
  c.set_input_grad(1, gather(c.output_grad(1), invert_permutation(order)));
}

}  // namespace

OpDef sparse_reorder_op() {
  return {.name = "SparseReorder",
          .inputs = "input_indices:int64; input_values:T; input_shape:int64",
          .outputs = "output_indices:int64; output_values:T",
          .attrs = "T:type",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

SparseTensor sparse_reorder(const SparseInput& input, std::string_view name) {
  Operation op =
      NodeBuilder("SparseReorder", name).input(input.indices).input(input.values).input(input.dense_shape).build();
  return {op.output(0), op.output(1), input.dense_shape.output()};
}

}  // namespace weir
