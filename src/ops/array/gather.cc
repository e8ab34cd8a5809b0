#include "ops/array/gather_common.h"

#include "graph/op_def.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_gather(c, 0, 0); }

void gradient(GradContext& c) { c.set_input_grad(0, gather_row_gradient(c.input(0), c.input(1), c.output_grad())); }

void cpu(KernelContext& c) { compute_gather(c, 0, 0); }

}  // namespace

OpDef gather_op() {
  return {.name = "Gather",
          .inputs = "params:Tparams; indices:Tindices",
          .outputs = "output:Tparams",
          .attrs = "validate_indices:bool=True; Tparams:type; Tindices:type{int32,int64}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu, AttrTparams>},
          .rows = Rows::Read};
}

}  // namespace weir::ops
