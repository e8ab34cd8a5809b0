#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/array/strided_copy.h"
#include "ops/element_mover.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "tensor/elements.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(1, 1);
  c.set_output(0, with_leading(c.input(1).has_rank() ? c.input(1)[0] : kUnknown,
                               shape_of_element(c, 0, element_shape_input(c, 2))));
}

// Indices may repeat, so their gradients are summed before they become elements.
void gradient(GradContext& c) {
  const Output grad = c.output_grad();
  Output length = NodeBuilder("TensorListLength").input(c.input(0)).output();
  Output rows = unsorted_segment_sum(grad, c.input(1), length);
  c.set_input_grad(0, NodeBuilder("TensorListFromTensor").input(rows).input(row_shape(grad)).output());
}

void cpu(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  const std::span indices(c.input<int32_t>(1), static_cast<size_t>(c.elements(1)));
  Shape element = merged_element_shape(*list, element_shape_value(c, 2));
  for (int32_t index : indices) {
    if (index < 0 || index >= list->length()) {
      throw invalid_argument("Index {} out of range; list only has {} elements.", index, list->length());
    }
    const Tensor* tensor = list->at(index);
    if (!tensor) continue;
    if (!tensor->valid() || !tensor->shape().compatible(element)) {
      throw invalid_argument("Tried to gather tensors of different shapes from a list: {} and {}", element.str(),
                             tensor->shape().str());
    }
    element = tensor->shape();
  }
  if (!element.is_known()) {
    throw invalid_argument("Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: {}",
                           element.str());
  }
  Tensor result = place_result(list->dtype(), with_leading(c.elements(1), element));
  const Tensor zeros = Tensor::zeros(list->dtype(), element);
  auto* data = static_cast<char*>(result.mutable_raw());
  const size_t bytes = static_cast<size_t>(element.elements()) * dtype_size(list->dtype());
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor* tensor = list->at(indices[i]);
    copy_elements(list->dtype(), data + i * bytes, (tensor ? *tensor : zeros).raw(), zeros.elements(), c.pool());
  }
  c.set_output(0, std::move(result));
}

ComputeFn select(const NodeView& node) { return dtype_size(node.type("element_dtype")) > 0 ? cpu : nullptr; }

}  // namespace

OpDef tensor_list_gather_op() {
  return {.name = "TensorListGather",
          .inputs = "input_handle:variant; indices:int32; element_shape:int32",
          .outputs = "values:element_dtype",
          .attrs = "element_dtype:type",
          .host = "indices, element_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace weir::ops
