#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/shape_facts.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { *c.output<int32_t>() = c.shape(0).rank(); }

}  // namespace

OpDef rank_op() {
  return {.name = "Rank",
          .inputs = "input:T",
          .outputs = "output:int32",
          .attrs = "T:type",
          .host = "output",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .from_shape = rank_of};
}

}  // namespace weir::ops

namespace weir {

Output rank(const In& input, std::string_view name) {
  Graph& graph = ops::graph_of({&input});
  LineScope line(graph, source_line(input.where()));
  const Output x = input.output();
  Scope scope = graph.name_scope(ops::name_or(name, "Rank"));
  if (x.shape().has_rank()) return graph.constant(Tensor(static_cast<int32_t>(x.shape().rank())), scope.name());
  return NodeBuilder("Rank", scope.name()).input(x).output();
}

}  // namespace weir
