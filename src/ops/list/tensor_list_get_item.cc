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
  c.set_output(0, shape_of_element(c, 0, element_shape_input(c, 2)));
}

// A list of zeros but for this element. Nothing is stored for the zeros, so adding it to another costs next to nothing.
void gradient(GradContext& c) {
  c.set_input_grad(
      0,
      NodeBuilder("TensorListSetItem").input(zeros_like(c.input(0))).input(c.input(1)).input(c.output_grad()).output());
}

void cpu(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  const auto index = c.scalar<int32_t>(1);
  if (index < 0 || index >= list->length()) {
    throw invalid_argument(
        "Trying to access element {} in a list with {} elements. (Tried to read from index {} but array size is: {})",
        index, list->length(), index, list->length());
  }
  give_element(c, 0, *list, index, element_shape_value(c, 2));
}

}  // namespace

OpDef tensor_list_get_item_op() {
  return {.name = "TensorListGetItem",
          .inputs = "input_handle:variant; index:int32; element_shape:int32",
          .outputs = "item:element_dtype",
          .attrs = "element_dtype:type",
          .host = "index, element_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
