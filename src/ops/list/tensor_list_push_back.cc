#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.set_output(0, Shape{});
  c.set_elements(0, Elements::of_either(c.elements(0), c.as_element(1)));
}

void gradient(GradContext& c) {
  Operation pop = NodeBuilder("TensorListPopBack")
                      .input(c.output_grad())
                      .input(shape(c.input(1)))
                      .attr("element_dtype", c.input(1).dtype())
                      .build();
  c.set_input_grad(0, pop.output(0));
  c.set_input_grad(1, pop.output(1));
}

void cpu(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  if (list->max_length() != -1 && list->length() >= list->max_length()) {
    throw invalid_argument("Tried to push item into a full list list size: {} max_num_elements: {}", list->length(),
                           list->max_length());
  }
  set_list_output(c, 0, list->pushed(element_input(c, 1, *list)));
}

}  // namespace

OpDef tensor_list_push_back_op() {
  return {.name = "TensorListPushBack",
          .inputs = "input_handle:variant; tensor:element_dtype",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
