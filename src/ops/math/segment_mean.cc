#include "ops/math/segments.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  Output data = c.input(0), ids = c.input(1), grad = c.output_grad();
  Output dims = expand_dims(rank(data) - 1, 0);
  Output ones_shape = concat({shape(ids), fill(dims, 1)}, 0);
  Output counted = fill(ones_shape, c.graph().constant(Literal(1), grad.dtype()));
  Output scaled = divide(grad, segment_sum(counted, ids));
  c.set_input_grad(0, gather(scaled, ids));
}

}  // namespace

OpDef segment_mean_op() {
  return {.name = "SegmentMean",
          .inputs = "data:T; segment_ids:Tindices",
          .outputs = "output:T",
          .attrs = "T:numbertype; Tindices:type{int32,int64}",
          .host = "segment_ids",
          .infer = infer_segments,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, SortedSegments<SegmentSum, true>>}};
}

}  // namespace weir::ops

namespace weir {

Output segment_mean(const In& data, const In& segment_ids, std::string_view name) {
  return NodeBuilder("SegmentMean", name).input(data).input(segment_ids).output();
}

}  // namespace weir
