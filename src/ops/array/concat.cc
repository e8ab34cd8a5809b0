#include "ops/array/concat_common.h"

#include "graph/op_def.h"
#include "ops/array/array_util.h"

namespace weir::ops {
namespace {

ConcatInputs layout(int inputs) { return {.axis = 0, .first = 1, .count = inputs - 1}; }

void infer(InferContext& c) { infer_concat(c, layout(c.inputs())); }
void gradient(GradContext& c) { concat_gradient(c, layout(c.inputs())); }
void cpu(KernelContext& c) { compute_concat(c, layout(c.inputs())); }

}  // namespace

OpDef concat_op() {
  return {.name = "Concat",
          .inputs = "concat_dim:int32; values:N*T",
          .outputs = "output:T",
          .attrs = "N:int>=2; T:type",
          .host = "concat_dim",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops
