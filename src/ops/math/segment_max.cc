#include "ops/math/segments.h"
#include "weir/index_ops.h"

namespace weir::ops {

OpDef segment_max_op() {
  return {.name = "SegmentMax",
          .inputs = "data:T; segment_ids:Tindices",
          .outputs = "output:T",
          .attrs = "T:realnumbertype; Tindices:type{int32,int64}",
          .host = "segment_ids",
          .infer = infer_segments,
          .gradient = segment_extremum_gradient,
          .cpu = {.select = kernel_for<RealTypes, SortedSegments<SegmentMax>>}};
}

}  // namespace weir::ops

namespace weir {

Output segment_max(const In& data, const In& segment_ids, std::string_view name) {
  return NodeBuilder("SegmentMax", name).input(data).input(segment_ids).output();
}

}  // namespace weir
