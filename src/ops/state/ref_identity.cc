#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/kernel.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad()); }

void cpu(KernelContext& c) { c.forward_ref(0, 0); }

}  // namespace

// The reference again, whether or not the variable has a value.
OpDef ref_identity_op() {
  return {.name = "RefIdentity",
          .inputs = "input:Ref(T)",
          .outputs = "output:Ref(T)",
          .attrs = "T:type",
          .flags = "uninitialized_input",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>},
          .effect = Effect::None};
}

OpDef debug_gradient_ref_identity_op() {
  OpDef op = ref_identity_op();
  op.name = "DebugGradientRefIdentity";
  return op;
}

}  // namespace weir::ops
