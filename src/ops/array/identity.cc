#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) { c.set_input_grad(0, c.raw_output_grad()); }

}  // namespace

OpDef identity_op() {
  return {.name = "Identity",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer::unchanged,
          .gradient = gradient,
          .alias = 0,
          .role = Role::Identity,
          .elementwise = UnaryFn::Identity,
          .as_shape = [](InferContext& c) { return c.value_as_shape(0); }};
}

// The same under a name that debuggers find.
OpDef debug_gradient_identity_op() {
  OpDef op = identity_op();
  op.name = "DebugGradientIdentity";
  op.flags = "uninitialized_input";
  op.elementwise = {};  // a debugger looks for the node
  return op;
}

}  // namespace weir::ops

namespace weir {

Output identity(const In& input, std::string_view name) { return NodeBuilder("Identity", name).input(input).output(); }

}  // namespace weir
