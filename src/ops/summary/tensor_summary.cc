#include "ops/array/array_util.h"
#include "ops/summary/summary_output.h"
#include "tensor/tensor_proto.h"

// TensorSummaryV2's elder, which old graphs hold: the value carries the node's name instead of a tag.
namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  proto::Summary summary;
  proto::Summary::Value& value = *summary.add_value();
  value.set_node_name(std::string(c.node().name()));
  tensor_to_proto(c.input_view(0), *value.mutable_tensor());
  set_summary(c, summary);
}

}  // namespace

OpDef tensor_summary_op() {
  return {.name = "TensorSummary",
          .inputs = "tensor:T",
          .outputs = "summary:string",
          .attrs = "T:type; description:string=''; labels:list(string)=[]; display_name:string=''",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_moving<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
