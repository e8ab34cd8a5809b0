#include "ops/array/concat_common.h"

#include "graph/graph_impl.h"
#include "graph/op_def.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

ConcatInputs layout(int inputs) { return {.axis = inputs - 1, .first = 0, .count = inputs - 1}; }

void infer(InferContext& c) { infer_concat(c, layout(c.inputs())); }
void gradient(GradContext& c) { concat_gradient(c, layout(c.inputs())); }
void cpu(KernelContext& c) { compute_concat(c, layout(c.inputs())); }

Shape as_shape(InferContext& c) {
  Shape shape;
  for (int i = 0; i + 1 < c.inputs(); ++i) {
    const Shape part = c.value_as_shape(i);
    if (!part.has_rank()) return Shape::unknown();
    for (int64_t dim : part.dims()) shape.append(dim);
  }
  return shape;
}

}  // namespace

OpDef concat_v2_op() {
  return {.name = "ConcatV2",
          .inputs = "values:N*T; axis:Tidx",
          .outputs = "output:T",
          .attrs = "N:int>=2; T:type; Tidx:type{int32,int64}=int32",
          .host = "axis",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>},
          .as_shape = as_shape};
}

}  // namespace weir::ops

namespace weir {

Output concat(const InList& values, const In& axis, std::string_view name) {
  name = ops::name_or(name, "concat");
  if (values.values().size() != 1) return NodeBuilder("ConcatV2", name).input(values).input(axis).output();
  // One tensor is passed on, in the nodes that TensorFlow makes.
  Graph& graph = ops::graph_of(values);
  LineScope line(graph, source_line(values.values()[0].where()));
  Scope scope = graph.name_scope(name);
  ops::to_output(graph, axis, "concat_dim", int32);
  return identity(values.values()[0], name);
}

}  // namespace weir
