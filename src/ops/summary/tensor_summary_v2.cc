#include "ops/array/array_util.h"
#include "ops/summary/summary_output.h"
#include "ops/summary/summary_writer.h"
#include "tensor/tensor_proto.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_tagged_summary(c);
  c.require_scalar(2);
}

void infer_write(InferContext& c) {
  for (int i : {0, 1, 3, 4}) c.require_scalar(i);
}

proto::Summary summary_of(KernelContext& c, const std::string& tag, int tensor, const std::string& metadata) {
  proto::Summary summary;
  proto::Summary::Value& value = *summary.add_value();
  value.set_tag(tag);
  tensor_to_proto(c.input_view(tensor), *value.mutable_tensor());
  if (!value.mutable_metadata()->ParseFromString(metadata)) {
    c.fail("serialized_summary_metadata is no SummaryMetadata message");
  }
  return summary;
}

void cpu(KernelContext& c) { set_summary(c, summary_of(c, c.input<std::string>(0)[0], 1, c.input<std::string>(2)[0])); }

void write(KernelContext& c) {
  write_summary(c, summary_of(c, c.input<std::string>(3)[0], 2, c.input<std::string>(4)[0]));
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

OpDef write_summary_op() {
  return write_row("WriteSummary", "writer:resource; step:int64; tensor:T; tag:string; summary_metadata:string",
                   "T:type", infer_write, {.select = kernel_moving<write>});
}

}  // namespace weir::ops
