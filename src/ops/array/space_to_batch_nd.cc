#include "ops/array/space_batch.h"

#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_space_batch(c, true); }
void cpu(KernelContext& c) { move_blocks(c, true); }
void gradient(GradContext& c) { c.set_input_grad(0, batch_to_space_nd(c.output_grad(), c.input(1), c.input(2))); }

void infer_square(InferContext& c) { infer_square_blocks(c, true); }
int64_t prepare_square(PrepareContext& c) { return c.attr<int64_t>("block_size"); }
void cpu_square(KernelContext& c) { move_square_blocks(c, c.state<int64_t>(), true); }
void gradient_square(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("BatchToSpace")
                          .input(c.output_grad())
                          .input(c.input(1))
                          .attr("block_size", c.attr<int64_t>("block_size"))
                          .output());
}

}  // namespace

OpDef space_to_batch_op() {
  return {.name = "SpaceToBatch",
          .inputs = "input:T; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = "T:type; Tpaddings:type{int32,int64}=int32; block_size:int>=2",
          .host = "paddings",
          .infer = infer_square,
          .gradient = gradient_square,
          .cpu = {.select = kernel_moving<cpu_square>, .prepare = prepared<prepare_square>}};
}

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
