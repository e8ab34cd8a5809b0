#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, Shape{});
  const Shape declared = element_shape_input(c, 0);
  c.set_elements(0, {.none = !declared.is_known(), .shape = declared});
}

void cpu(KernelContext& c) {
  const auto length = c.scalar<int32_t>(1);
  if (length < 0) {
    throw invalid_argument("The num_elements to reserve must be a non negative number, but got {}", length);
  }
  set_list_output(c, 0,
                  std::make_shared<TensorList>(c.node().type("element_dtype"), element_shape_value(c, 0), length));
}

}  // namespace

OpDef tensor_list_reserve_op() {
  return {.name = "TensorListReserve",
          .inputs = "element_shape:shape_type; num_elements:int32",
          .outputs = "handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "element_shape, num_elements",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
