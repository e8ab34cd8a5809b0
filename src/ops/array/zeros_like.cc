#include "autodiff/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { zero_elements(c.dtype(0), c.raw_output(), c.output_elements(), c.pool()); }

}  // namespace

OpDef zeros_like_op() {
  return {.name = "ZerosLike",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = "T:type",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_moving<cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

Output zeros_like(const In& x, DType dtype, std::string_view name) {
  Graph& graph = ops::graph_of({&x});
  LineScope line(graph, source_line(x.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "zeros_like"));
  const Output tensor = x.output();
  if (dtype == DType::Invalid) dtype = tensor.dtype();
  if (tensor.shape().is_known()) return zeros(graph, tensor.shape(), dtype, scope.name());
  if (dtype != tensor.dtype()) return zeros(graph, shape(tensor), dtype, scope.name());
  return NodeBuilder("ZerosLike", scope.name()).input(tensor).output();
}

}  // namespace weir
