#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { *c.output<int32_t>() = static_cast<int32_t>(list_input(c, 0)->length()); }

}  // namespace

OpDef tensor_list_length_op() {
  return {.name = "TensorListLength",
          .inputs = "input_handle:variant",
          .outputs = "length:int32",
          .host = "length",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops
