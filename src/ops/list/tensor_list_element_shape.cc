#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Whether it is a vector or a scalar only the list knows.
void infer(InferContext& c) { c.require_scalar(0); }

// A vector of sizes, or the scalar -1 when not even the rank is known.
template <class T>
void give(KernelContext& c, const Shape& shape) {
  if (!shape.has_rank()) {
    c.set_output(0, Tensor(T{-1}));
    return;
  }
  c.set_output(0, Tensor(std::vector<T>(shape.dims().begin(), shape.dims().end())));
}

void cpu(KernelContext& c) {
  const Shape& shape = list_input(c, 0)->element_shape();
  c.node().type("shape_type") == DType::Int32 ? give<int32_t>(c, shape) : give<int64_t>(c, shape);
}

}  // namespace

OpDef tensor_list_element_shape_op() {
  return {.name = "TensorListElementShape",
          .inputs = "input_handle:variant",
          .outputs = "element_shape:shape_type",
          .attrs = "shape_type:type{int32,int64}",
          .host = "element_shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
