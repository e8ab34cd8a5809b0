#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/shape_facts.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

template <DType dtype>
void cpu(KernelContext& c) {
  write_size(c, 0, dtype, 0, c.elements(0));
}

ComputeFn select(const NodeView& node) {
  return node.type("out_type") == DType::Int32 ? cpu<DType::Int32> : cpu<DType::Int64>;
}

}  // namespace

OpDef size_op() {
  return {.name = "Size",
          .inputs = "input:T",
          .outputs = "output:out_type",
          .attrs = "T:type; out_type:type{int32,int64}=int32",
          .host = "output",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .from_shape = elements_of};
}

}  // namespace weir::ops

namespace weir {

Output size(const In& input, DType out_type, std::string_view name) {
  Graph& graph = ops::graph_of({&input});
  LineScope line(graph, source_line(input.where()));
  const Output x = input.output();
  Scope scope = graph.name_scope(ops::name_or(name, "Size"));
  if (x.shape().is_known()) return graph.constant(x.shape().elements(), out_type, scope.name());
  return NodeBuilder("Size", scope.name()).input(x).attr("out_type", out_type).output();
}

}  // namespace weir
