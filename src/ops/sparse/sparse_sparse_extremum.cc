#include "graph/grad_context.h"
#include "ops/math/functors.h"
#include "ops/sparse/merge.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t a = infer_sparse_input(c, 0), b = infer_sparse_input(c, 3);
  const int64_t rank = a == kUnknown ? b : a;
  c.set_output(0, Shape{kUnknown, rank});
  c.set_output(1, Shape{kUnknown});
}

// What one operand lacks counts as zero.
template <bool kMaximum>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    const Coordinates a(c, 0, 2), b(c, 3, 5);
    check_same_shape(a, b);
    std::vector<int64_t> rows;
    std::vector<T> values;
    merge_rows(a, b, [&](const int64_t* row, int64_t i, int64_t j) {
      const W x = i < 0 ? W() : W(c.input<T>(1)[i]), y = j < 0 ? W() : W(c.input<T>(4)[j]);
      rows.insert(rows.end(), row, row + a.rank);
      values.push_back(static_cast<T>(kMaximum ? std::max(x, y) : std::min(x, y)));
    });
    const auto count = static_cast<int64_t>(values.size());
    c.set_output(0, index_tensor(rows, count, a.rank));
    c.set_output(1, Tensor(values));
  }
};

OpDef row_of(std::string_view name, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = "a_indices:int64; a_values:T; a_shape:int64; b_indices:int64; b_values:T; b_shape:int64",
          .outputs = "output_indices:int64; output_values:T",
          .attrs = attrs,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = cpu};
}

}  // namespace

OpDef sparse_sparse_maximum_op() {
  return row_of("SparseSparseMaximum", "T:realnumbertype", {.select = kernel_for<RealTypes, Cpu<true>>});
}
OpDef sparse_sparse_minimum_op() {
  return row_of("SparseSparseMinimum", "T:numbertype", {.select = kernel_for<RealTypes, Cpu<false>>});
}

}  // namespace weir::ops
