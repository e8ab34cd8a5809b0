#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(1, 0);
  c.set_output(0, Shape{});
  c.set_elements(0, {.none = true});
}

void cpu(KernelContext& c) {
  const int64_t max_length = c.input<int32_t>(1)[0];
  set_list_output(
      c, 0, std::make_shared<TensorList>(c.node().type("element_dtype"), element_shape_value(c, 0), 0, max_length));
}

}  // namespace

OpDef empty_tensor_list_op() {
  return {.name = "EmptyTensorList",
          .inputs = "element_shape:shape_type; max_num_elements:int32",
          .outputs = "handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "element_shape, max_num_elements",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
