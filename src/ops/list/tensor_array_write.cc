#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.require_scalar(3);
  c.set_output(0, Shape{});
}

// What was read of the element says how the value counts. The flow of gradients passes on.
void gradient(GradContext& c) {
  const Output flow = c.output_grad();
  const GradientArray grads = gradient_array(c, flow);
  c.set_input_grad(2, NodeBuilder(same_version(c, "TensorArrayRead"))
                          .input(grads.handle)
                          .input(c.input(1))
                          .input(grads.flow)
                          .attr("dtype", c.input(2).dtype())
                          .output());
  c.set_input_grad(3, flow);
}

void cpu(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  array.require_dtype(c.dtype(2), true);
  const auto index = c.scalar<int32_t>(1);
  const Tensor value = c.input_tensor(2);
  array.write({&index, 1}, {&value, 1});
  *c.output<float>() = c.scalar<float>(3);
}

OpDef row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "flow_out:float",
                             .attrs = "T:type",
                             .host = "index",
                             .infer = infer,
                             .gradient = gradient,
                             .cpu = {.select = kernel_any<cpu>}});
}

}  // namespace

OpDef tensor_array_write_op() {
  return row({"TensorArrayWrite", "handle:Ref(string); index:int32; value:T; flow_in:float", "deprecated@16"});
}
OpDef tensor_array_write_v2_op() {
  return row({"TensorArrayWriteV2", "handle:string; index:int32; value:T; flow_in:float", "deprecated@26"});
}
OpDef tensor_array_write_v3_op() {
  return row({"TensorArrayWriteV3", "handle:resource; index:int32; value:T; flow_in:float", "stateful"});
}

}  // namespace weir::ops
