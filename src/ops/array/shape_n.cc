#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/shape_facts.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.set_output(i, Shape{c.input(i).has_rank() ? c.input(i).rank() : kUnknown});
}

template <DType dtype>
void cpu(KernelContext& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    for (int d = 0; d < c.shape(i).rank(); ++d) write_size(c, i, dtype, d, c.shape(i).dims()[static_cast<size_t>(d)]);
  }
}

ComputeFn select(const NodeView& node) {
  return node.type("out_type") == DType::Int32 ? cpu<DType::Int32> : cpu<DType::Int64>;
}

}  // namespace

OpDef shape_n_op() {
  return {.name = "ShapeN",
          .inputs = "input:N*T",
          .outputs = "output:N*out_type",
          .attrs = "N:int>=1; T:type; out_type:type{int32,int64}=int32",
          .host = "output",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .from_shape = sizes_of};
}

}  // namespace weir::ops

namespace weir {

std::vector<Output> shape_n(const InList& inputs, DType out_type, std::string_view name) {
  Operation op = NodeBuilder("ShapeN", name).input(inputs).attr("out_type", out_type).build();
  std::vector<Output> outputs;
  for (int i = 0; i < op.outputs(); ++i) outputs.push_back(op.output(i));
  return outputs;
}

}  // namespace weir
