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
  // Values are not followed: other elements may be zeros.
  const Elements before = c.elements(0);
  c.set_elements(0, Elements::of_either({.none = before.none, .shape = before.shape}, {.shape = c.input(2)}));
}

void gradient(GradContext& c) {
  Output list_grad = c.output_grad(), index = c.input(1), item = c.input(2), item_shape = shape(item);
  c.set_input_grad(0, NodeBuilder("TensorListSetItem")
                          .input(list_grad)
                          .input(index)
                          .input(zeros(c.graph(), item_shape, item.dtype()))
                          .output());
  c.set_input_grad(2, NodeBuilder("TensorListGetItem")
                          .input(list_grad)
                          .input(index)
                          .input(item_shape)
                          .attr("element_dtype", item.dtype())
                          .output());
}

void cpu(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  const auto index = c.scalar<int32_t>(1);
  if (index < 0 || index >= list->length()) {
    throw invalid_argument(
        "Trying to modify element {} in a list with {} elements. (Tried to write to index {} but array is not "
        "resizeable "
        "and size is: {})",
        index, list->length(), index, list->length());
  }
  set_list_output(c, 0, list->with(index, element_input(c, 2, *list)));
}

}  // namespace

OpDef tensor_list_set_item_op() {
  return {.name = "TensorListSetItem",
          .inputs = "input_handle:variant; index:int32; item:element_dtype",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type",
          .host = "index",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
