#include "ops/math/sparse_segments.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  Output rows = subscript(shape(c.input(0)), {0});
  c.set_input_grad(0, unsorted_segment_sum(gather(c.output_grad(), c.input(2)), c.input(1), rows));
}

}  // namespace

OpDef sparse_segment_sum_op() {
  return {.name = "SparseSegmentSum",
          .inputs = kSparseSegmentInputs,
          .outputs = "output:T",
          .attrs = "T:realnumbertype; Tidx:type{int32,int64}=int32",
          .infer = infer_sparse_segments,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, SparseSegments<SegmentScale::Sum>>}};
}

}  // namespace weir::ops
