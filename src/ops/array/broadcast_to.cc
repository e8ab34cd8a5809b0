#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  Shape to = shape_argument(c, 1);
  if (from.has_rank() && to.has_rank()) {
    bool fits = from.rank() <= to.rank();
    for (int i = 1; fits && i <= from.rank(); ++i) {
      fits = from[-i] == 1 || from[-i] == kUnknown || to[-i] == kUnknown || from[-i] == to[-i];
    }
    if (!fits) throw invalid_argument("shape {} cannot be broadcast to {}", from.str(), to.str());
  }
  c.set_output(0, to);
}

void gradient(GradContext& c) { c.set_input_grad(0, reduce_to_shape_of(c.output_grad(), c.input(0))); }

void cpu(KernelContext& c) {
  const Shape &from = c.shape(0), &to = c.output_shape();
  Strides from_strides(from), to_strides(to);
  int missing = to.rank() - from.rank();
  StridedBox box;
  for (int i = 0; i < to.rank(); ++i) {
    bool repeat = i < missing || from.dims()[static_cast<size_t>(i - missing)] == 1;
    box.add(to.dims()[static_cast<size_t>(i)], to_strides[i], repeat ? 0 : from_strides[i - missing]);
  }
  copy_box(c.dtype(0), box, c.raw_output(), c.raw_input(0), c.pool());
}

}  // namespace

OpDef broadcast_to_op() {
  return {.name = "BroadcastTo",
          .inputs = "input:T; shape:Tidx",
          .outputs = "output:T",
          .attrs = "T:type; Tidx:type{int32,int64}=int32",
          .host = "shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>},
          .loop = {LoopPart::Kind::Spread}};
}

}  // namespace weir::ops

namespace weir {

Output broadcast_to(const In& input, const In& shape, std::string_view name) {
  return NodeBuilder("BroadcastTo", name).input(input).input(shape).output();
}

}  // namespace weir
