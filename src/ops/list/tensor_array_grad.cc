#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/types.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  if (c.inputs() > 2) c.require_rank(2, 1);
  c.set_output(0, Shape{2});
  if (c.outputs() > 1) c.set_output(1, Shape{});
}

void cpu(KernelContext& c) {
  Shape prepended;
  if (c.inputs() > 2) {
    prepended = values_as_shape(c.input_view(2));
    if (!prepended.is_known()) throw invalid_argument("shape_to_prepend has a negative size: {}", prepended.str());
  }
  const ResourcePtr<TensorArrayState> grads = tensor_array(c).gradient(c.node().attr<std::string>("source"), prepended);
  give_run_handle(c, "_tensor_array_grads", grads->name(), grads);
  if (c.outputs() > 1) *c.output<float>(1) = c.scalar<float>(1);
}

OpDef row(const ArrayVersion& version, std::string_view outputs) {
  OpDef def = array_row(version, {.name = version.name,
                                  .outputs = outputs,
                                  .attrs = "source:string",
                                  .infer = infer,
                                  .gradient = not_differentiable,
                                  .cpu = {.select = kernel_any<cpu>}});
  def.effect = Effect::Other;
  return def;
}

}  // namespace

OpDef tensor_array_grad_op() {
  return row({"TensorArrayGrad", "handle:string; flow_in:float", "stateful,deprecated@16"}, "grad_handle:Ref(string)");
}
OpDef tensor_array_grad_v2_op() {
  return row({"TensorArrayGradV2", "handle:string; flow_in:float", "stateful,deprecated@26"}, "grad_handle:string");
}
OpDef tensor_array_grad_v3_op() {
  return row({"TensorArrayGradV3", "handle:resource; flow_in:float", "stateful"},
             "grad_handle:resource; flow_out:float");
}
OpDef tensor_array_grad_with_shape_op() {
  OpDef def = row({"TensorArrayGradWithShape", "handle:resource; flow_in:float; shape_to_prepend:int32", "stateful"},
                  "grad_handle:resource; flow_out:float");
  def.host = "shape_to_prepend";
  return def;
}

}  // namespace weir::ops
