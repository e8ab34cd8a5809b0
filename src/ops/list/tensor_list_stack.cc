#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "tensor/elements.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  Shape element = element_shape_input(c, 1);
  if (!element.has_rank()) return;
  Shape stacked{c.attr<int64_t>("num_elements")};
  for (int64_t dim : element.dims()) stacked.append(dim);
  c.set_output(0, std::move(stacked));
}

void cpu(KernelContext& c) {
  std::shared_ptr<const TensorList> list = list_input(c, 0);
  const int64_t wanted = c.node().attr<int64_t>("num_elements"), length = list->length();
  if (wanted >= 0 && wanted != length) {
    throw invalid_argument("Operation expected a list with {} elements but got a list with {} elements.", wanted,
                           length);
  }
  if (length == 0)
    throw invalid_argument("Tried to stack elements of an empty list with non-fully-defined element_shape");
  const Shape element = list->last().shape();
  Shape stacked{length};
  for (int64_t dim : element.dims()) stacked.append(dim);
  Tensor result(list->dtype(), stacked);
  auto* data = static_cast<char*>(result.mutable_raw());
  const size_t bytes = static_cast<size_t>(element.elements()) * dtype_size(list->dtype());
  for (int64_t i = length; i-- > 0; list = list->without_last()) {
    const Tensor& tensor = list->last();
    if (!tensor.valid() || tensor.shape() != element) {
      throw invalid_argument("Tried to stack list which contains tensors of different shapes: {} and {}", element.str(),
                             tensor.shape().str());
    }
    copy_elements(list->dtype(), tensor.raw(), data + static_cast<size_t>(i) * bytes, tensor.elements());
  }
  c.set_output(0, std::move(result));
}

ComputeFn select(const NodeView& node) { return dtype_size(node.type("element_dtype")) > 0 ? cpu : nullptr; }

}  // namespace

OpDef tensor_list_stack_op() {
  return {.name = "TensorListStack",
          .inputs = "input_handle:variant; element_shape:int32",
          .outputs = "tensor:element_dtype",
          .attrs = "element_dtype:type; num_elements:int=-1",
          .infer = infer,
          .cpu = {.select = select, .gives_outputs = true}};
}

}  // namespace weir::ops
