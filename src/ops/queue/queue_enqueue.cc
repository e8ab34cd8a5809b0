#include "ops/queue/queue.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.require_scalar(0); }

void start(KernelContext& c, Completion done) {
  Queue::Tuple element;
  for (int i = 1; i < c.inputs(); ++i) element.push_back(c.input_tensor(i));
  c.resource<Queue>(0).enqueue(std::move(element), c, done);
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .attrs = "Tcomponents:list(type)>=1; timeout_ms:int=-1",
          .flags = flags,
          .host = "components",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<start>},
          .waits = true};
}

}  // namespace

OpDef queue_enqueue_op() { return row("QueueEnqueue", "handle:Ref(string); components:Tcomponents", ""); }
OpDef queue_enqueue_v2_op() { return row("QueueEnqueueV2", "handle:resource; components:Tcomponents", "stateful"); }

}  // namespace weir::ops
