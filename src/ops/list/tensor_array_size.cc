#include "ops/list/tensor_array_versions.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer_size(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, Shape{});
}

void size(KernelContext& c) { *c.output<int32_t>() = tensor_array(c).size(); }

void close(KernelContext& c) { tensor_array(c).close(); }

OpDef size_row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "size:int32",
                             .host = "size",
                             .infer = infer_size,
                             .gradient = not_differentiable,
                             .cpu = {.select = kernel_any<size>}});
}

OpDef close_row(const ArrayVersion& version) {
  return array_row(version,
                   {.name = version.name, .gradient = not_differentiable, .cpu = {.select = kernel_any<close>}});
}

}  // namespace

OpDef tensor_array_size_op() {
  return size_row({"TensorArraySize", "handle:Ref(string); flow_in:float", "deprecated@16"});
}
OpDef tensor_array_size_v2_op() {
  return size_row({"TensorArraySizeV2", "handle:string; flow_in:float", "deprecated@26"});
}
OpDef tensor_array_size_v3_op() {
  return size_row({"TensorArraySizeV3", "handle:resource; flow_in:float", "stateful"});
}
OpDef tensor_array_close_op() { return close_row({"TensorArrayClose", "handle:Ref(string)", "deprecated@16"}); }
OpDef tensor_array_close_v2_op() { return close_row({"TensorArrayCloseV2", "handle:string", "deprecated@26"}); }
OpDef tensor_array_close_v3_op() { return close_row({"TensorArrayCloseV3", "handle:resource", "stateful"}); }

}  // namespace weir::ops
