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
  c.set_output(0, with_leading(c.attr<int64_t>("num_elements"), shape_of_element(c, 0, element_shape_input(c, 1))));
}

void gradient(GradContext& c) {
  const Output grad = c.output_grad();
  c.set_input_grad(0, NodeBuilder("TensorListFromTensor").input(grad).input(row_shape(grad)).output());
}

void cpu(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  const int64_t wanted = c.node().attr<int64_t>("num_elements"), length = list->length();
  if (wanted >= 0 && wanted != length) {
    throw invalid_argument("Operation expected a list with {} elements but got a list with {} elements.", wanted,
                           length);
  }
  Shape element = merged_element_shape(*list, element_shape_value(c, 1));
  int64_t written = 0;
  list->visit([&](int64_t, const Tensor& tensor) {
    if (!tensor.valid() || !tensor.shape().compatible(element)) {
      throw invalid_argument("Tried to stack list which contains tensors of different shapes: {} and {}", element.str(),
                             tensor.shape().str());
    }
    element = tensor.shape();
    ++written;
  });
  if (!element.is_known()) {
    throw invalid_argument("Tried to stack {} list with non-fully-defined element_shape: {}{}",
                           length == 0 ? "elements of an empty" : "a wholly uninitialized", element.str(),
                           length > 0 ? ""
                                      : " (TensorArray has size zero, but element shape " + element.str() +
                                            " is not fully defined. Currently only static shapes are supported when "
                                            "packing zero-size TensorArrays.)");
  }
  const Shape stacked = with_leading(length, element);
  Tensor result = place_result(list->dtype(), stacked);
  if (written < length) zero_elements(list->dtype(), result.mutable_raw(), result.elements(), c.pool());
  auto* data = static_cast<char*>(result.mutable_raw());
  const size_t bytes = static_cast<size_t>(element.elements()) * dtype_size(list->dtype());
  list->visit([&](int64_t i, const Tensor& tensor) {
    copy_elements(list->dtype(), data + static_cast<size_t>(i) * bytes, tensor.raw(), tensor.elements(), c.pool());
  });
  c.set_output(0, std::move(result));
}

ComputeFn select(const NodeView& node) { return dtype_size(node.type("element_dtype")) > 0 ? cpu : nullptr; }

}  // namespace

OpDef tensor_list_stack_op() {
  return {.name = "TensorListStack",
          .inputs = "input_handle:variant; element_shape:int32",
          .outputs = "tensor:element_dtype",
          .attrs = "element_dtype:type; num_elements:int=-1",
          .host = "element_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace weir::ops
