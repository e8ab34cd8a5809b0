#include "ops/math/segments.h"
#include "weir/index_ops.h"

namespace weir::ops {

OpDef unsorted_segment_min_op() {
  return {.name = "UnsortedSegmentMin",
          .inputs = "data:T; segment_ids:Tindices; num_segments:Tnumsegments",
          .outputs = "output:T",
          .attrs = "T:realnumbertype; Tindices:type{int32,int64}; Tnumsegments:type{int32,int64}=int32",
          .host = "num_segments",
          .infer = infer_unsorted_segments,
          .gradient = unsorted_segment_extremum_gradient,
          .cpu = {.select = kernel_for<RealTypes, UnsortedSegments<SegmentMin>>}};
}

}  // namespace weir::ops

namespace weir {

Output unsorted_segment_min(const In& data, const In& segment_ids, const In& num_segments, std::string_view name) {
  return NodeBuilder("UnsortedSegmentMin", name).input(data).input(segment_ids).input(num_segments).output();
}

}  // namespace weir
