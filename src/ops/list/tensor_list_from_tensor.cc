#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  c.set_output(0, Shape{});
  if (c.input(0).has_rank()) c.set_elements(0, {.shape = Shape(c.input(0).dims().subspan(1))});
}

void gradient(GradContext& c) {
  const Output x = c.input(0);
  c.set_input_grad(0, NodeBuilder("TensorListStack")
                          .input(c.output_grad())
                          .input(row_shape(x))
                          .attr("element_dtype", x.dtype())
                          .attr("num_elements", x.shape().has_rank() ? x.shape()[0] : kUnknown)
                          .output());
}

void cpu(KernelContext& c) {
  const int64_t length = c.shape(0)[0];
  RowsInput rows(c, 0, length);
  ListPtr list = std::make_shared<TensorList>(c.dtype(0), element_shape_value(c, 1));
  require_row_shape(c, 0, *list);
  for (int64_t i = 0; i < length; ++i) list = list->pushed(rows.row(i));
  set_list_output(c, 0, std::move(list));
}

ComputeFn select(const NodeView& node) { return dtype_size(node.type("element_dtype")) > 0 ? cpu : nullptr; }

}  // namespace

OpDef tensor_list_from_tensor_op() {
  return {.name = "TensorListFromTensor",
          .inputs = "tensor:element_dtype; element_shape:shape_type",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "element_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace weir::ops
