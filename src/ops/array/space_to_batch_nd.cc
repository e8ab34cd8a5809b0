#include "ops/array/space_batch.h"

#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_space_batch(c, true); }
void cpu(KernelContext& c) { move_blocks(c, true); }
void gradient(GradContext& c) { c.set_input_grad(0, batch_to_space_nd(c.output_grad(), c.input(1), c.input(2))); }

}  // namespace

OpDef space_to_batch_nd_op() {
  return {.name = "SpaceToBatchND",
          .inputs = "input:T; block_shape:Tblock_shape; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = "T:type; Tblock_shape:type{int32,int64}=int32; Tpaddings:type{int32,int64}=int32",
          .host = "block_shape, paddings",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output space_to_batch_nd(const In& input, const In& block_shape, const In& paddings, std::string_view name) {
  return NodeBuilder("SpaceToBatchND", name).input(input).input(block_shape).input(paddings).output();
}

}  // namespace weir
