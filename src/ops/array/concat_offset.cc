#include <fmt/ranges.h>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  for (int i = 1; i < c.inputs(); ++i) {
    const Shape& sizes = c.input(i);
    if (sizes.has_rank() && sizes.rank() != 1) {
      throw invalid_argument("Shape must be rank 1 but is rank {}: input {} should be a vector; its shape is {}",
                             sizes.rank(), i, sizes.str());
    }
    if (!sizes.compatible(c.input(1))) {
      throw invalid_argument("input {} should contain {} elements; its shape is {}", i, c.input(1)[0], sizes.str());
    }
    c.set_output(i - 1, sizes.merged(c.input(1)));
  }
}

void cpu(KernelContext& c) {
  int64_t rank = c.elements(1), axis = c.scalar<int32_t>(0);
  if (axis < -rank || axis >= rank) throw invalid_argument("Concat dim is out of range: {} vs. {}", axis, rank);
  axis = wrap_axis(axis, static_cast<int>(rank));
  const int32_t* first = c.input<int32_t>(1);
  int32_t at = 0;
  for (int i = 1; i < c.inputs(); ++i) {
    const int32_t* sizes = c.input<int32_t>(i);
    int32_t* offsets = c.output<int32_t>(i - 1);
    for (int64_t d = 0; d < rank; ++d) {
      offsets[d] = d == axis ? at : 0;
      if (d != axis && sizes[d] != first[d]) {
        throw invalid_argument(
            "All dimensions except {} must match. Input {} has shape [{}] and doesn't match input 0 with shape [{}].",
            axis, i - 1, fmt::join(sizes, sizes + rank, " "), fmt::join(first, first + rank, " "));
      }
    }
    if (__builtin_add_overflow(at, sizes[axis], &at)) throw invalid_argument("the sizes along axis {} overflow", axis);
  }
}

}  // namespace

OpDef concat_offset_op() {
  return {.name = "ConcatOffset",
          .inputs = "concat_dim:int32; shape:N*int32",
          .outputs = "offset:N*int32",
          .attrs = "N:int>=2",
          .host = "concat_dim, shape, offset",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops

namespace weir {

std::vector<Output> concat_offset(const In& axis, const InList& shapes, std::string_view name) {
  Operation op = NodeBuilder("ConcatOffset", name).input(axis).input(shapes).build();
  std::vector<Output> outputs;
  for (int i = 0; i < op.outputs(); ++i) outputs.push_back(op.output(i));
  return outputs;
}

}  // namespace weir
