#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape &inputs = c.input(0), &ids = c.input(1);
  const std::optional<int64_t> count = scalar_argument(c, 2);
  if (count && *count < 0) throw invalid_argument("Number of segments must be non-negative but got {}", *count);
  if (!inputs.has_rank() || !ids.has_rank()) return;
  if (ids.rank() > inputs.rank()) {
    throw invalid_argument("segment_ids of shape {} are no prefix of {}", ids.str(), inputs.str());
  }
  Shape to{count ? *count : kUnknown};
  for (int i = 0; i < inputs.rank(); ++i) {
    if (i >= ids.rank()) {
      to.append(inputs[i]);
    } else if (ids[i] != kUnknown && inputs[i] != kUnknown && ids[i] != inputs[i]) {
      throw invalid_argument("segment_ids of shape {} are no prefix of {}", ids.str(), inputs.str());
    }
  }
  c.set_output(0, to);
}

void cpu(KernelContext& c) {
  const std::string& separator = c.node().attr<std::string>("separator");
  const int64_t segments = c.output_shape()[0], ids = c.elements(1), width = ids ? c.elements(0) / ids : 0;
  std::vector<bool> begun(static_cast<size_t>(segments));
  for (int64_t i = 0; i < c.output_elements(); ++i) c.output<std::string>()[i].clear();
  for (int64_t i = 0; i < ids; ++i) {
    const int64_t segment = int_at(c, 1, i);
    if (segment < 0) continue;
    if (segment >= segments) throw invalid_argument("segment id {} is out of range [0, {})", segment, segments);
    for (int64_t j = 0; j < width; ++j) {
      std::string& text = c.output<std::string>()[segment * width + j];
      if (begun[static_cast<size_t>(segment)]) text += separator;
      text += c.input<std::string>(0)[i * width + j];
    }
    begun[static_cast<size_t>(segment)] = true;
  }
}

}  // namespace

OpDef unsorted_segment_join_op() {
  return {.name = "UnsortedSegmentJoin",
          .inputs = "inputs:string; segment_ids:Tindices; num_segments:Tnumsegments",
          .outputs = "output:string",
          .attrs = "separator:string=''; Tindices:type{int32,int64}; Tnumsegments:type{int32,int64}=int32",
          .host = "num_segments",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
