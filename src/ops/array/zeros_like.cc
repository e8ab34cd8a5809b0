#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "ops/list/tensor_list.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { zero_elements(c.dtype(0), c.raw_output(), c.output_elements(), c.pool()); }

// A list as long whose elements were never written: they count as zeros.
void like_list(KernelContext& c) {
  ListPtr list = list_input(c, 0);
  set_list_output(c, 0, std::make_shared<TensorList>(list->dtype(), list->element_shape(), list->length()));
}

void infer_like(InferContext& c) {
  infer::unchanged(c);
  if (c.attr<DType>("T") == DType::Variant) c.set_elements(0, {.none = true});
}

ComputeFn select(const NodeView& node) { return node.type() == DType::Variant ? like_list : kernel_moving<cpu>(node); }

}  // namespace

OpDef zeros_like_op() {
  return {.name = "ZerosLike",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = "T:type",
          .infer = infer_like,
          .gradient = not_differentiable,
          .cpu = {.select = select, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

Output zeros_like(const In& x, DType dtype, std::string_view name) {
  Graph& graph = ops::graph_of({&x});
  LineScope line(graph, source_line(x.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "zeros_like"));
  const Output tensor = x.output();
  if (dtype == DType::Invalid) dtype = tensor.dtype();
  if (tensor.shape().is_known() && dtype != DType::Variant) return zeros(graph, tensor.shape(), dtype, scope.name());
  if (dtype != tensor.dtype()) return zeros(graph, shape(tensor), dtype, scope.name());
  return NodeBuilder("ZerosLike", scope.name()).input(tensor).output();
}

}  // namespace weir
