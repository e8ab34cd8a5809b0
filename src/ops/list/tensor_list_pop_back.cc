#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Elements elements = c.elements(0);
  c.set_output(0, Shape{});
  c.set_elements(0, elements);
  c.set_output(1, shape_of_element(c, 0, element_shape_input(c, 1)));
  c.set_value(1, elements.value);
}

void gradient(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("TensorListPushBack").input(c.output_grad(0)).input(c.output_grad(1)).output());
}

void cpu(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  if (list->length() == 0) throw invalid_argument("Trying to pop from an empty list.");
  set_list_output(c, 0, list->popped());
  give_element(c, 1, *list, list->length() - 1, element_shape_value(c, 1));
}

}  // namespace

OpDef tensor_list_pop_back_op() {
  return {.name = "TensorListPopBack",
          .inputs = "input_handle:variant; element_shape:int32",
          .outputs = "output_handle:variant; tensor:element_dtype",
          .attrs = "element_dtype:type",
          .host = "element_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
