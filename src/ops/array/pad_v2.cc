#include "graph/op_def.h"
#include "ops/array/array_util.h"
#include "ops/array/pad_common.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(2);
  infer_pad(c);
}

void cpu(KernelContext& c) { compute_pad(c, c.raw_input(2)); }

}  // namespace

OpDef pad_v2_op() {
  return {.name = "PadV2",
          .inputs = "input:T; paddings:Tpaddings; constant_values:T",
          .outputs = "output:T",
          .attrs = "T:type; Tpaddings:type{int32,int64}=int32",
          .host = "paddings",
          .infer = infer,
          .gradient = pad_gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops
