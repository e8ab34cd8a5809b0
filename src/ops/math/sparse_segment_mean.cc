#include "ops/math/sparse_segments.h"
#include "weir/index_ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) { sparse_segment_gradient(c, "SparseSegmentMeanGrad"); }

OpDef row(std::string_view name) { return sparse_segment_row<SegmentScale::Mean>(name, gradient); }

}  // namespace

OpDef sparse_segment_mean_op() { return row("SparseSegmentMean"); }
OpDef sparse_segment_mean_with_num_segments_op() { return row("SparseSegmentMeanWithNumSegments"); }
OpDef sparse_segment_mean_grad_op() { return sparse_segment_grad_row<SegmentScale::Mean>("SparseSegmentMeanGrad"); }

}  // namespace weir::ops

namespace weir {

Output sparse_segment_mean(const In& data, const In& indices, const In& segment_ids,
                           const std::optional<In>& num_segments, std::string_view name) {
  return ops::sparse_segments("SparseSegmentMean", data, indices, segment_ids, num_segments, name);
}

}  // namespace weir
