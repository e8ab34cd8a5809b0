#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.require_scalar(0); }

// Other plans may hold the variable, so it stays and becomes uninitialised.
void cpu(KernelContext& c) { c.variable(0).clear(); }

}  // namespace

OpDef destroy_resource_op() {
  return {.name = "DestroyResourceOp",
          .inputs = "resource:resource",
          .attrs = "ignore_lookup_error:bool=True",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops
