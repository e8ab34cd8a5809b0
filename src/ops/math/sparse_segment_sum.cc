#include "ops/math/sparse_segments.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  Output rows = subscript(shape(c.input(0)), {0});
  c.set_input_grad(0, unsorted_segment_sum(gather(c.output_grad(), c.input(2)), c.input(1), rows));
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view attrs, std::string_view host) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "output:T",
          .attrs = attrs,
          .host = host,
          .infer = infer_sparse_segments,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, SparseSegments<SegmentScale::Sum>>}};
}

}  // namespace

OpDef sparse_segment_sum_op() {
  return row("SparseSegmentSum", kSparseSegmentInputs, "T:realnumbertype; Tidx:type{int32,int64}=int32", "segment_ids");
}
OpDef sparse_segment_sum_with_num_segments_op() {
  return row("SparseSegmentSumWithNumSegments", kCountedSegmentInputs,
             "T:realnumbertype; Tidx:type{int32,int64}=int32; Tnumsegments:type{int32,int64}=int32",
             "segment_ids, num_segments");
}

}  // namespace weir::ops

namespace weir {

Output sparse_segment_sum(const In& data, const In& indices, const In& segment_ids,
                          const std::optional<In>& num_segments, std::string_view name) {
  return ops::sparse_segments("SparseSegmentSum", data, indices, segment_ids, num_segments, name);
}

}  // namespace weir
