#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/shape_facts.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, Shape{c.input(0).has_rank() ? c.input(0).rank() : kUnknown}); }

template <DType dtype>
void cpu(KernelContext& c) {
  for (int i = 0; i < c.shape(0).rank(); ++i) write_size(c, 0, dtype, i, c.shape(0).dims()[static_cast<size_t>(i)]);
}

ComputeFn select(const NodeView& node) {
  return node.type("out_type") == DType::Int32 ? cpu<DType::Int32> : cpu<DType::Int64>;
}

}  // namespace

OpDef shape_op() {
  return {.name = "Shape",
          .inputs = "input:T",
          .outputs = "output:out_type",
          .attrs = "T:type; out_type:type{int32,int64}=int32",
          .host = "output",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .from_shape = sizes_of,
          .as_shape = [](InferContext& c) { return c.input(0); }};
}

}  // namespace weir::ops

namespace weir {

Output shape(const In& input, DType out_type, std::string_view name) {
  Graph& graph = ops::graph_of({&input});
  LineScope line(graph, source_line(input.where()));
  const Output x = input.output();
  Scope scope = graph.name_scope(ops::name_or(name, "Shape"));
  if (x.shape().is_known()) {
    Tensor sizes = Tensor(std::vector<int64_t>(x.shape().dims().begin(), x.shape().dims().end()));
    return graph.constant(convert_literal(sizes, out_type), scope.name());
  }
  return NodeBuilder("Shape", scope.name()).input(x).attr("out_type", out_type).output();
}

}  // namespace weir
