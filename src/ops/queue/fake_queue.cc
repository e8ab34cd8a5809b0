#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/queue.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { c.forward_ref(0, 0); }

}  // namespace

// The handle of a queue in its other form.
OpDef fake_queue_op() {
  return {.name = "FakeQueue",
          .inputs = "resource:resource",
          .outputs = "handle:Ref(string)",
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .effect = Effect::None};
}

}  // namespace weir::ops
