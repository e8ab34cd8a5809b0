#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  // Nothing is there when the tensor is of the branch that was not taken; then nobody will look at it either.
  Tensor tensor = c.raw_input(1) ? c.input_tensor(1) : Tensor();
  set_list_output(c, 0, std::make_shared<TensorList>(list_input(c, 0), std::move(tensor)));
}

}  // namespace

OpDef tensor_list_push_back_op() {
  return {.name = "TensorListPushBack",
          .inputs = "input_handle:variant; tensor:element_dtype",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type",
          .infer = infer::scalar,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
