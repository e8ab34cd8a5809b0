#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.set_output(0, Shape{});
  c.set_output(1, element_shape_input(c, 1));
}

void cpu(KernelContext& c) {
  std::shared_ptr<const TensorList> list = list_input(c, 0);
  if (list->length() == 0) throw invalid_argument("Trying to pop from an empty list.");
  set_list_output(c, 0, list->without_last());
  if (list->last().valid()) c.set_output(1, list->last());
}

}  // namespace

OpDef tensor_list_pop_back_op() {
  return {.name = "TensorListPopBack",
          .inputs = "input_handle:variant; element_shape:int32",
          .outputs = "output_handle:variant; tensor:element_dtype",
          .attrs = "element_dtype:type",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
