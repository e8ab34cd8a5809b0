#include "ops/math/segments.h"
#include "weir/index_ops.h"

namespace weir::ops {

OpDef segment_prod_op() {
  return {.name = "SegmentProd",
          .inputs = "data:T; segment_ids:Tindices",
          .outputs = "output:T",
          .attrs = "T:numbertype; Tindices:type{int32,int64}",
          .host = "segment_ids",
          .infer = infer_segments,
          .cpu = {.select = kernel_for<NumberTypes, SortedSegments<SegmentProd>>}};
}

}  // namespace weir::ops

namespace weir {

Output segment_prod(const In& data, const In& segment_ids, std::string_view name) {
  return NodeBuilder("SegmentProd", name).input(data).input(segment_ids).output();
}

}  // namespace weir
