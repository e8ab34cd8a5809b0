#include <map>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/element_type.h"
#include "ops/math/functors.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t rank = infer_sparse_input(c, 0);
  for (int i = 3; i < 5; ++i) {
    c.require_rank(i, 1);
    if (rank != kUnknown && c.input(i).has_rank() && c.input(i)[0] != kUnknown && c.input(i)[0] != rank) {
      throw invalid_argument("Expected {} to be a vector of length {} but got length {}", i == 3 ? "start" : "size",
                             rank, c.input(i)[0]);
    }
  }
  set_sparse_output(c, 0, kUnknown, rank);
}

void cpu(KernelContext& c) {
  const Coordinates from(c, 0, 2, Coordinates::Rows::kAny);
  const int64_t *start = c.input<int64_t>(3), *size = c.input<int64_t>(4);
  std::vector<int64_t> dims(static_cast<size_t>(from.rank)), rows, kept;
  for (int64_t d = 0; d < from.rank; ++d) {
    if (start[d] < 0 || size[d] < 0) {
      throw invalid_argument("start and size of a slice must not be below zero; got {} and {} in dimension {}",
                             start[d], size[d], d);
    }
    dims[static_cast<size_t>(d)] =
        std::max<int64_t>(0, std::min(size[d], from.dims[d] - std::min(start[d], from.dims[d])));
  }
  for (int64_t i = 0; i < from.count; ++i) {
    bool inside = true;
    for (int64_t d = 0; d < from.rank; ++d) {
      const int64_t at = from.row(i)[d];
      inside = inside && at >= start[d] && at - start[d] < dims[static_cast<size_t>(d)];
    }
    if (!inside) continue;
    kept.push_back(i);
    for (int64_t d = 0; d < from.rank; ++d) rows.push_back(from.row(i)[d] - start[d]);
  }
  const auto count = static_cast<int64_t>(kept.size());
  Tensor values(c.dtype(1), Shape{count});
  with_element_type(c.dtype(1), [&]<class T>(T) {
    auto* to = static_cast<T*>(values.mutable_raw());
    for (int64_t i : kept) *to++ = c.input<T>(1)[i];
  });
  c.set_output(0, index_tensor(rows, count, from.rank));
  c.set_output(1, std::move(values));
  std::copy(dims.begin(), dims.end(), c.output<int64_t>(2));
}

void gradient(GradContext& c) {
  c.set_input_grad(1, NodeBuilder("SparseSliceGrad")
                          .input(c.output_grad(1))
                          .input(c.input(0))
                          .input(c.input(3))
                          .input(c.output(0))
                          .output());
}

void infer_grad(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 2);
  c.require_rank(2, 1);
  c.require_rank(3, 2);
  c.set_output(0, Shape{c.input(1).has_rank() ? c.input(1)[0] : kUnknown});
}

// Values of the slice in the order of the slice's rows go back to the rows of the input that they came from.
struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t rank = c.shape(1)[1], count = c.shape(1)[0], kept = c.shape(3)[0];
    if (c.shape(3)[1] != rank || c.elements(2) != rank) {
      throw invalid_argument(
          "The input indices, the start and the output indices must have one rank; got {}, {} and {}", rank,
          c.elements(2), c.shape(3)[1]);
    }
    if (c.elements(0) != kept) {
      throw invalid_argument("Number of elements in backprop_val_grad and output_indices must match: {} and {}",
                             c.elements(0), kept);
    }
    const int64_t *from = c.input<int64_t>(1), *to = c.input<int64_t>(3), *start = c.input<int64_t>(2);
    int64_t next = 0;
    for (int64_t i = 0; i < count; ++i) {
      bool same = next < kept;
      for (int64_t d = 0; same && d < rank; ++d) {
        same = wrapping_sub(from[i * rank + d], start[d]) == to[next * rank + d];
      }
      c.output<T>()[i] = same ? c.input<T>(0)[next++] : T();
    }
    if (next != kept) throw invalid_argument("Elements of backprop_val_grad aren't all propagated");
  }
};

}  // namespace

OpDef sparse_slice_op() {
  return {.name = "SparseSlice",
          .inputs = "indices:int64; values:T; shape:int64; start:int64; size:int64",
          .outputs = "output_indices:int64; output_values:T; output_shape:int64",
          .attrs = "T:type",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

OpDef sparse_slice_grad_op() {
  return {.name = "SparseSliceGrad",
          .inputs = "backprop_val_grad:T; input_indices:int64; input_start:int64; output_indices:int64",
          .outputs = "val_grad:T",
          .attrs = "T:numbertype",
          .infer = infer_grad,
          .cpu = {.select = kernel_for<NumberTypes, Grad>}};
}

}  // namespace weir::ops
