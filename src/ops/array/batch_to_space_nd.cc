#include "ops/array/space_batch.h"

#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_space_batch(c, false); }
void cpu(KernelContext& c) { move_blocks(c, false); }
void gradient(GradContext& c) { c.set_input_grad(0, space_to_batch_nd(c.output_grad(), c.input(1), c.input(2))); }

void infer_square(InferContext& c) { infer_square_blocks(c, false); }
int64_t prepare_square(PrepareContext& c) { return c.attr<int64_t>("block_size"); }
void cpu_square(KernelContext& c) { move_square_blocks(c, c.state<int64_t>(), false); }
void gradient_square(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("SpaceToBatch")
                          .input(c.output_grad())
                          .input(c.input(1))
                          .attr("block_size", c.attr<int64_t>("block_size"))
                          .output());
}

}  // namespace

OpDef batch_to_space_op() {
  return {.name = "BatchToSpace",
          .inputs = "input:T; crops:Tidx",
          .outputs = "output:T",
          .attrs = "T:type; block_size:int>=2; Tidx:type{int32,int64}=int32",
          .host = "crops",
          .infer = infer_square,
          .gradient = gradient_square,
          .cpu = {.select = kernel_moving<cpu_square>, .prepare = prepared<prepare_square>}};
}

OpDef batch_to_space_nd_op() {
  return {.name = "BatchToSpaceND",
          .inputs = "input:T; block_shape:Tblock_shape; crops:Tcrops",
          .outputs = "output:T",
          .attrs = "T:type; Tblock_shape:type{int32,int64}=int32; Tcrops:type{int32,int64}=int32",
          .host = "block_shape, crops",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output batch_to_space_nd(const In& input, const In& block_shape, const In& crops, std::string_view name) {
  return NodeBuilder("BatchToSpaceND", name).input(input).input(block_shape).input(crops).output();
}

}  // namespace weir
