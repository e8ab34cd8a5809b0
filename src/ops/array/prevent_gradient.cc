#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  throw not_found("Gradient explicitly disabled. Reason: {}", c.attr<std::string>("message"));
}

}  // namespace

OpDef prevent_gradient_op() {
  return {.name = "PreventGradient",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type; message:string=''",
          .infer = infer::unchanged,
          .gradient = gradient,
          .alias = 0};
}

}  // namespace weir::ops

namespace weir {

Output prevent_gradient(const In& input, std::string_view message, std::string_view name) {
  return NodeBuilder("PreventGradient", name).input(input).attr("message", std::string(message)).output();
}

}  // namespace weir
