#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/nd_index.h"
#include "ops/math/functors.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_sparse_input(c, 0);
  c.set_output(0, c.input(3));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape& dense = c.shape(3);
    const int64_t rank = c.shape(0)[1];
    if (rank != dense.rank()) {
      throw invalid_argument("The rank of the sparse tensor, {}, differs from that of the dense one, {}", rank,
                             dense.rank());
    }
    for (int64_t d = 0; d < rank; ++d) {
      if (int_at(c, 2, d) != dense[static_cast<int>(d)]) {
        throw invalid_argument(
            "Dimension {} does not equal (no broadcasting is supported): sparse side {} vs dense side {}", d,
            int_at(c, 2, d), dense[static_cast<int>(d)]);
      }
    }
    if (c.raw_output() != c.raw_input(3)) std::copy_n(c.input<T>(3), c.elements(3), c.output<T>());
    const NdIndex index(c, 0, dense);
    for (int64_t i = 0; i < c.elements(1); ++i) {
      T& sum = c.output<T>()[index.slice_start(i)];
      sum = static_cast<T>(wrapping_add(Wide<T>(sum), Wide<T>(c.input<T>(1)[i])));
    }
  }
};

void gradient(GradContext& c) {
  c.set_input_grad(1, gather_nd(c.output_grad(), c.input(0)));
  c.set_input_grad(3, c.output_grad());
}

}  // namespace

OpDef sparse_tensor_dense_add_op() {
  return {.name = "SparseTensorDenseAdd",
          .inputs = "a_indices:Tindices; a_values:T; a_shape:Tindices; b:T",
          .outputs = "output:T",
          .attrs = "T:numbertype; Tindices:type{int32,int64}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>, .in_place = 0b1000}};
}

}  // namespace weir::ops
