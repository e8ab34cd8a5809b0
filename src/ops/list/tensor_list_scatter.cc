#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

template <int kTensor>
void infer(InferContext& c) {
  c.require_min_rank(kTensor, 1);
  c.require_rank(kTensor + 1, 1);
  const Shape &tensor = c.input(kTensor), &indices = c.input(kTensor + 1);
  if (tensor.has_rank() && indices.has_rank() && !Shape{tensor[0]}.compatible(indices)) {
    throw invalid_argument("a tensor of shape {} is scattered by {} indices", tensor.str(), indices[0]);
  }
  c.set_output(0, Shape{});
  Elements rows;
  if (tensor.has_rank()) rows.shape = Shape(tensor.dims().subspan(1));
  c.set_elements(0, kTensor == 0 ? rows : Elements::of_either(c.elements(0), rows));
}

void infer_v2(InferContext& c) {
  infer<0>(c);
  c.require_scalar(3);
}

// Writes row i of input `tensor` at element indices[i], where the indices are the input after it.
ListPtr scatter(const KernelContext& c, ListPtr list, int tensor) {
  const int64_t count = c.elements(tensor + 1);
  RowsInput rows(c, tensor, count);
  require_row_shape(c, tensor, *list);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t index = c.input<int32_t>(tensor + 1)[i];
    if (index < 0) throw invalid_argument("Indices in TensorListScatter must all be non-negative; {} is not.", index);
    if (index >= list->length()) {
      throw invalid_argument("TensorListScatter: Trying to scatter at index {} in list with size {}", index,
                             list->length());
    }
    list = list->with(index, rows.row(i));
  }
  return list;
}

// Without a length the list ends after the largest index.
template <bool kHasLength>
void cpu(KernelContext& c) {
  int64_t length = kHasLength ? c.scalar<int32_t>(3) : -1;
  if (length < -1) throw invalid_argument("TensorListScatter expects num_elements >= -1, found: {}", length);
  if (length == -1) {
    length = 0;
    for (int64_t i = 0; i < c.elements(1); ++i) length = std::max<int64_t>(length, int64_t{c.input<int32_t>(1)[i]} + 1);
  }
  set_list_output(c, 0, scatter(c, std::make_shared<TensorList>(c.dtype(0), element_shape_value(c, 2), length), 0));
}

void into_existing(KernelContext& c) { set_list_output(c, 0, scatter(c, list_input(c, 0), 1)); }

Output rows_of(const Output& list, const Output& indices, const Output& like) {
  return NodeBuilder("TensorListGather")
      .input(list)
      .input(indices)
      .input(row_shape(like))
      .attr("element_dtype", like.dtype())
      .output();
}

void gradient(GradContext& c) { c.set_input_grad(0, rows_of(c.output_grad(), c.input(1), c.input(0))); }

void into_existing_gradient(GradContext& c) {
  const Output grad = c.output_grad(), tensor = c.input(1), indices = c.input(2);
  c.set_input_grad(0, NodeBuilder("TensorListScatterIntoExistingList")
                          .input(grad)
                          .input(zeros(c.graph(), shape(tensor), tensor.dtype()))
                          .input(indices)
                          .output());
  c.set_input_grad(1, rows_of(grad, indices, tensor));
}

template <ComputeFn kFn>
ComputeFn select(const NodeView& node) {
  return dtype_size(node.type("element_dtype")) > 0 ? kFn : nullptr;
}

}  // namespace

OpDef tensor_list_scatter_op() {
  return {.name = "TensorListScatter",
          .inputs = "tensor:element_dtype; indices:int32; element_shape:shape_type",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "indices, element_shape",
          .infer = infer<0>,
          .gradient = gradient,
          .cpu = {.select = select<cpu<false>>, .gives_outputs = true}};
}

OpDef tensor_list_scatter_v2_op() {
  return {.name = "TensorListScatterV2",
          .inputs = "tensor:element_dtype; indices:int32; element_shape:shape_type; num_elements:int32",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "indices, element_shape, num_elements",
          .infer = infer_v2,
          .gradient = gradient,
          .cpu = {.select = select<cpu<true>>, .gives_outputs = true}};
}

OpDef tensor_list_scatter_into_existing_list_op() {
  return {.name = "TensorListScatterIntoExistingList",
          .inputs = "input_handle:variant; tensor:element_dtype; indices:int32",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type",
          .host = "indices",
          .infer = infer<1>,
          .gradient = into_existing_gradient,
          .cpu = {.select = select<into_existing>, .gives_outputs = true}};
}

}  // namespace weir::ops
