#include "ops/math/sparse_segments.h"
#include "weir/index_ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) { sparse_segment_gradient(c, "SparseSegmentSqrtNGrad"); }

OpDef row(std::string_view name) { return sparse_segment_row<SegmentScale::SqrtN>(name, gradient); }

}  // namespace

OpDef sparse_segment_sqrt_n_op() { return row("SparseSegmentSqrtN"); }
OpDef sparse_segment_sqrt_n_with_num_segments_op() { return row("SparseSegmentSqrtNWithNumSegments"); }
OpDef sparse_segment_sqrt_n_grad_op() { return sparse_segment_grad_row<SegmentScale::SqrtN>("SparseSegmentSqrtNGrad"); }

}  // namespace weir::ops

namespace weir {

Output sparse_segment_sqrt_n(const In& data, const In& indices, const In& segment_ids,
                             const std::optional<In>& num_segments, std::string_view name) {
  return ops::sparse_segments("SparseSegmentSqrtN", data, indices, segment_ids, num_segments, name);
}

}  // namespace weir
