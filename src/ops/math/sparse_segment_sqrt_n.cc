#include "ops/math/sparse_segments.h"

namespace weir::ops {

OpDef sparse_segment_sqrt_n_op() {
  return sparse_segment_row<SegmentScale::SqrtN>(
      "SparseSegmentSqrtN", [](GradContext& c) { sparse_segment_gradient(c, "SparseSegmentSqrtNGrad"); });
}
OpDef sparse_segment_sqrt_n_grad_op() { return sparse_segment_grad_row<SegmentScale::SqrtN>("SparseSegmentSqrtNGrad"); }

}  // namespace weir::ops
