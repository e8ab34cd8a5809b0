#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "weir/ops.h"

namespace weir::ops {

OpDef stop_gradient_op() {
  return {.name = "StopGradient",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .alias = 0};
}

}  // namespace weir::ops

namespace weir {

Output stop_gradient(const In& input, std::string_view name) {
  return NodeBuilder("StopGradient", name).input(input).output();
}

}  // namespace weir
