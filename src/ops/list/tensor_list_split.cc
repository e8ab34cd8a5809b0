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
  c.require_rank(2, 1);
  c.set_output(0, Shape{});
  if (c.input(0).has_rank()) {
    c.set_elements(0, {.shape = with_leading(kUnknown, Shape(c.input(0).dims().subspan(1)))});
  }
}

void gradient(GradContext& c) {
  const Output x = c.input(0);
  Output element = concat({c.graph().constant(Tensor(std::vector<int32_t>{-1})), row_shape(x)}, 0);
  c.set_input_grad(0, NodeBuilder("TensorListConcatV2")
                          .input(c.output_grad())
                          .input(element)
                          .input(c.input(2))
                          .attr("element_dtype", x.dtype())
                          .output());
}

void cpu(KernelContext& c) {
  const std::span lengths(c.input<int64_t>(2), static_cast<size_t>(c.elements(2)));
  const int64_t rows = c.shape(0)[0];
  int64_t total = 0;
  for (int64_t length : lengths) {
    if (length < 0) throw invalid_argument("Invalid value in lengths: {}", length);
    total = checked_add(total, length);
  }
  if (total != rows) {
    throw invalid_argument(
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {}",
        total, c.shape(0).str());
  }
  RowsInput input(c, 0, c.elements(2));
  ListPtr list = std::make_shared<TensorList>(c.dtype(0), element_shape_value(c, 1));
  int64_t begin = 0;
  for (int64_t length : lengths) {
    Tensor part = input.rows(begin, length);
    require_fit(part.shape(), *list);
    list = list->pushed(std::move(part));
    begin += length;
  }
  set_list_output(c, 0, std::move(list));
}

ComputeFn select(const NodeView& node) { return dtype_size(node.type("element_dtype")) > 0 ? cpu : nullptr; }

}  // namespace

OpDef tensor_list_split_op() {
  return {.name = "TensorListSplit",
          .inputs = "tensor:element_dtype; element_shape:shape_type; lengths:int64",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "element_shape, lengths",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace weir::ops
