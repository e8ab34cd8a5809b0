#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, Shape{});
  const Elements elements = c.elements(0);
  c.set_elements(0, {.none = elements.none, .shape = elements.shape});
}

void gradient(GradContext& c) {
  Output length = NodeBuilder("TensorListLength").input(c.input(0)).output();
  c.set_input_grad(0, NodeBuilder("TensorListResize").input(c.output_grad()).input(length).output());
}

void cpu(KernelContext& c) {
  const auto size = c.scalar<int32_t>(1);
  if (size < 0) throw invalid_argument("TensorListResize expects size to be non-negative. Got: {}", size);
  set_list_output(c, 0, list_input(c, 0)->resized(size));
}

}  // namespace

OpDef tensor_list_resize_op() {
  return {.name = "TensorListResize",
          .inputs = "input_handle:variant; size:int32",
          .outputs = "output_handle:variant",
          .flags = "stateful",
          .host = "size",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
