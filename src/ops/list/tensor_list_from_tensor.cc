#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  c.set_output(0, Shape{});
}

void cpu(KernelContext& c) {
  const DType dtype = c.dtype(0);
  const Shape element(c.shape(0).dims().subspan(1));
  const size_t bytes = static_cast<size_t>(element.elements()) * dtype_size(dtype);
  const auto* data = static_cast<const char*>(c.raw_input(0));
  auto list = std::make_shared<const TensorList>(dtype);
  for (int64_t i = 0; i < c.shape(0)[0]; ++i) {
    Tensor tensor(dtype, element);
    copy_elements(dtype, data + static_cast<size_t>(i) * bytes, tensor.mutable_raw(), tensor.elements());
    list = std::make_shared<const TensorList>(std::move(list), std::move(tensor));
  }
  set_list_output(c, 0, std::move(list));
}

ComputeFn select(const NodeView& node) { return dtype_size(node.type("element_dtype")) > 0 ? cpu : nullptr; }

}  // namespace

OpDef tensor_list_from_tensor_op() {
  return {.name = "TensorListFromTensor",
          .inputs = "tensor:element_dtype; element_shape:shape_type",
          .outputs = "output_handle:variant",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .infer = infer,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace weir::ops
