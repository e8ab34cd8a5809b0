#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/math/functors.h"
#include "ops/sparse/sparse.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t rank = infer_sparse_input(c, 0);
  c.require_scalar(3);
  if (rank == 0) throw invalid_argument("a sparse tensor without dimensions has no rows");
  const int64_t count = c.input(0).has_rank() ? c.input(0)[0] : kUnknown;
  c.set_output(0, Shape{kUnknown, rank});
  c.set_output(1, Shape{kUnknown});
  const Shape shape = shape_argument(c, 2);
  c.set_output(2, Shape{shape.has_rank() && shape.rank() > 0 ? shape[0] : kUnknown});
  c.set_output(3, Shape{count});
}

// Each empty row gets the default value in its first column.
void cpu(KernelContext& c) {
  const Coordinates from(c, 0, 2);
  const int64_t rows = from.dims[0], rank = from.rank;
  std::vector<int64_t> begin(static_cast<size_t>(rows) + 1);
  for (int64_t i = 0; i < from.count; ++i) ++begin[static_cast<size_t>(from.row(i)[0])];
  int64_t total = 0;
  Tensor empty(DType::Bool, Shape{rows});
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t here = begin[static_cast<size_t>(row)];
    empty.mutable_data<bool>()[row] = here == 0;
    begin[static_cast<size_t>(row)] = total;
    total += std::max<int64_t>(here, 1);
  }
  std::vector<int64_t> to_rows(static_cast<size_t>(total * rank)), next = begin;
  for (int64_t row = 0; row < rows; ++row) {
    if (empty.data<bool>()[static_cast<size_t>(row)])
      to_rows[static_cast<size_t>(begin[static_cast<size_t>(row)] * rank)] = row;
  }
  Tensor values(c.dtype(1), Shape{total});
  with_element_type(c.dtype(1), [&]<class T>(T) {
    auto* to = static_cast<T*>(values.mutable_raw());
    for (int64_t i = 0; i < total; ++i) to[i] = c.input<T>(3)[0];
    for (int64_t i = 0; i < from.count; ++i) {
      const int64_t at = next[static_cast<size_t>(from.row(i)[0])]++;
      to[at] = c.input<T>(1)[i];
      std::copy_n(from.row(i), rank, to_rows.data() + at * rank);
      c.output<int64_t>(3)[i] = at;
    }
  });
  c.set_output(0, index_tensor(to_rows, total, rank));
  c.set_output(1, std::move(values));
  c.set_output(2, std::move(empty));
}

void gradient(GradContext& c) {
  Operation grads = NodeBuilder("SparseFillEmptyRowsGrad").input(c.output(3)).input(c.output_grad(1)).build();
  c.set_input_grad(1, grads.output(0));
  c.set_input_grad(3, grads.output(1));
}

void infer_grad(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
  c.set_output(0, c.input(0));
  c.set_output(1, Shape{});
}

struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t count = c.elements(1);
    std::vector<bool> visited(static_cast<size_t>(count));
    for (int64_t i = 0; i < c.elements(0); ++i) {
      const int64_t at = c.input<int64_t>(0)[i];
      if (at < 0 || at >= count)
        throw invalid_argument("Elements in reverse index must be in [0, {}) but got {}", count, at);
      visited[static_cast<size_t>(at)] = true;
      c.output<T>(0)[i] = c.input<T>(1)[at];
    }
    Wide<T> sum = Wide<T>();
    for (int64_t i = 0; i < count; ++i) {
      if (!visited[static_cast<size_t>(i)]) sum = wrapping_add(sum, Wide<T>(c.input<T>(1)[i]));
    }
    c.output<T>(1)[0] = static_cast<T>(sum);
  }
};

}  // namespace

OpDef sparse_fill_empty_rows_op() {
  return {.name = "SparseFillEmptyRows",
          .inputs = "indices:int64; values:T; dense_shape:int64; default_value:T",
          .outputs = "output_indices:int64; output_values:T; empty_row_indicator:bool; reverse_index_map:int64",
          .attrs = "T:type",
          .host = "dense_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

OpDef sparse_fill_empty_rows_grad_op() {
  return {.name = "SparseFillEmptyRowsGrad",
          .inputs = "reverse_index_map:int64; grad_values:T",
          .outputs = "d_values:T; d_default_value:T",
          .attrs = "T:type",
          .infer = infer_grad,
          .cpu = {.select = kernel_for<NumberTypes, Grad>}};
}

}  // namespace weir::ops
