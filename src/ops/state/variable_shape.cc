#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  const Tensor value = c.variable(0).read_live();
  const Shape& shape = value.shape();
  Tensor sizes(c.node().type("out_type"), Shape{shape.rank()});
  for (int d = 0; d < shape.rank(); ++d) {
    if (sizes.dtype() == DType::Int32) {
      sizes.mutable_data<int32_t>()[d] = static_cast<int32_t>(shape[d]);
    } else {
      sizes.mutable_data<int64_t>()[d] = shape[d];
    }
  }
  c.set_output(0, std::move(sizes));
}

void infer(InferContext& c) { c.set_output(0, Shape::unknown_dims(1)); }

}  // namespace

OpDef variable_shape_op() {
  return {.name = "VariableShape",
          .inputs = "input:resource",
          .outputs = "output:out_type",
          .attrs = "out_type:type{int32,int64}=int32",
          .flags = "stateful",
          .host = "output",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .effect = Effect::Reads};
}

}  // namespace weir::ops
