#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.require_scalar(2);
}

// Writes into the array of gradients, where what several readers of an element give adds up.
void gradient(GradContext& c) {
  const GradientArray grads = gradient_array(c, c.input(2));
  c.set_input_grad(2, NodeBuilder(same_version(c, "TensorArrayWrite"))
                          .input(grads.handle)
                          .input(c.input(1))
                          .input(c.output_grad())
                          .input(grads.flow)
                          .output());
}

void cpu(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  array.require_dtype(c.node().type("dtype"), false);
  const auto index = c.scalar<int32_t>(1);
  c.set_output(0, array.read({&index, 1})[0]);
}

OpDef row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "value:dtype",
                             .attrs = "dtype:type",
                             .host = "index",
                             .infer = infer,
                             .gradient = gradient,
                             .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}});
}

}  // namespace

OpDef tensor_array_read_op() {
  return row({"TensorArrayRead", "handle:Ref(string); index:int32; flow_in:float", "deprecated@16"});
}
OpDef tensor_array_read_v2_op() {
  return row({"TensorArrayReadV2", "handle:string; index:int32; flow_in:float", "deprecated@26"});
}
OpDef tensor_array_read_v3_op() {
  return row({"TensorArrayReadV3", "handle:resource; index:int32; flow_in:float", "stateful"});
}

}  // namespace weir::ops
