#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}

void cpu(KernelContext& c) {
  const int32_t index = c.scalar<int32_t>(0);
  if (index < 0 || index >= c.inputs() - 1) {
    throw invalid_argument("Index must be in the range [0, {1}) but got {0}", index, c.inputs() - 1);
  }
  c.forward_ref(1 + index, 0);
}

}  // namespace

// One of several handles. TensorFlow has handles in tensors and gathers them.
OpDef select_handle_op() {
  return {.name = "_SelectHandle",
          .inputs = "index:int32; handles:N*resource",
          .outputs = "handle:resource",
          .attrs = "N:int>=1",
          .host = "index",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops
