#include "ops/math/sparse_segments.h"

namespace weir::ops {

OpDef sparse_segment_mean_op() {
  return sparse_segment_row<SegmentScale::Mean>(
      "SparseSegmentMean", [](GradContext& c) { sparse_segment_gradient(c, "SparseSegmentMeanGrad"); });
}
OpDef sparse_segment_mean_grad_op() { return sparse_segment_grad_row<SegmentScale::Mean>("SparseSegmentMeanGrad"); }

}  // namespace weir::ops
