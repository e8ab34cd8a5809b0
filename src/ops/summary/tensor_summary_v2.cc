#include "ops/array/array_util.h"
#include "ops/summary/summary_output.h"
#include "tensor/tensor_proto.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_tagged_summary(c);
  c.require_scalar(2);
}

void cpu(KernelContext& c) {
  proto::Summary summary;
  proto::Summary::Value& value = *summary.add_value();
  value.set_tag(c.input<std::string>(0)[0]);
  tensor_to_proto(c.input_view(1), *value.mutable_tensor());
  if (!value.mutable_metadata()->ParseFromString(c.input<std::string>(2)[0])) {
    c.fail("serialized_summary_metadata is no SummaryMetadata message");
  }
  set_summary(c, summary);
}

}  // namespace

OpDef tensor_summary_v2_op() {
  return {.name = "TensorSummaryV2",
          .inputs = "tag:string; tensor:T; serialized_summary_metadata:string",
          .outputs = "summary:string",
          .attrs = "T:type",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_moving<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
