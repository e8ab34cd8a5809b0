#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/pad_common.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { compute_pad(c, nullptr); }

}  // namespace

OpDef pad_op() {
  return {.name = "Pad",
          .inputs = "input:T; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = "T:type; Tpaddings:type{int32,int64}=int32",
          .host = "paddings",
          .infer = infer_pad,
          .gradient = pad_gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output pad(const In& tensor, const In& paddings, const In& constant_value, std::string_view name) {
  const Tensor& number = constant_value.value();
  bool zero = constant_value.weak() && number.elements() == 1 && convert_literal(number, float64).scalar<double>() == 0;
  if (zero) return NodeBuilder("Pad", name).input(tensor).input(paddings).output();
  return NodeBuilder("PadV2", name).input(tensor).input(paddings).input(constant_value).output();
}

}  // namespace weir
