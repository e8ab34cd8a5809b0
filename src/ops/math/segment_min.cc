#include "ops/math/segments.h"
#include "weir/index_ops.h"

namespace weir::ops {

OpDef segment_min_op() {
  return {.name = "SegmentMin",
          .inputs = "data:T; segment_ids:Tindices",
          .outputs = "output:T",
          .attrs = "T:realnumbertype; Tindices:type{int32,int64}",
          .host = "segment_ids",
          .infer = infer_segments,
          .gradient = segment_extremum_gradient,
          .cpu = {.select = kernel_for<RealTypes, SortedSegments<SegmentMin>>}};
}

}  // namespace weir::ops

namespace weir {

Output segment_min(const In& data, const In& segment_ids, std::string_view name) {
  return NodeBuilder("SegmentMin", name).input(data).input(segment_ids).output();
}

}  // namespace weir
