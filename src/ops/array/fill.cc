#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, shape_argument(c, 0));
}

void gradient(GradContext& c) { c.set_input_grad(1, reduce_sum(c.output_grad())); }

void cpu(KernelContext& c) { fill_elements(c.dtype(1), c.raw_output(), c.output_elements(), c.raw_input(1), c.pool()); }

}  // namespace

OpDef fill_op() {
  return {.name = "Fill",
          .inputs = "dims:index_type; value:T",
          .outputs = "output:T",
          .attrs = "T:type; index_type:type{int32,int64}=int32",
          .host = "dims",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output fill(Graph& graph, const In& dims, const In& value, std::string_view name) {
  return NodeBuilder("Fill", name).graph(graph).input(dims).input(value).output();
}

Output fill(const In& dims, const In& value, std::string_view name) {
  return NodeBuilder("Fill", name).input(dims).input(value).output();
}

}  // namespace weir
