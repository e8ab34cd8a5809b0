#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Tensor& value = c.attr<Tensor>("value");
  DType dtype = c.attr<DType>("dtype");
  if (value.dtype() != dtype) {
    throw invalid_argument("attribute 'value' is {}, attribute 'dtype' says {}", dtype_name(value.dtype()),
                           dtype_name(dtype));
  }
  c.set_output(0, value.shape());
}

}  // namespace

// There is no kernel: the value stands in the node, and plans read it there.
OpDef const_op() {
  return {.name = "Const",
          .outputs = "output:dtype",
          .attrs = "value:tensor; dtype:type",
          .infer = infer,
          .gradient = not_differentiable,
          .role = Role::Constant};
}

}  // namespace weir::ops
