#include "ops/queue/queue.h"
#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.require_scalar(0); }

void start(KernelContext& c, Completion done) {
  auto& queue = c.resource<Queue>(0);
  const auto& wanted = c.node().attr<std::vector<DType>>("component_types");
  if (wanted != queue.options().types) {
    throw invalid_argument("the elements of {} have other types than the operation wants", queue.describe());
  }
  queue.dequeue(c, done);
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "components:component_types",
          .attrs = "component_types:list(type)>=1; timeout_ms:int=-1",
          .flags = flags,
          .host = "components",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<start>},
          .waits = true};
}

}  // namespace

OpDef queue_dequeue_op() { return row("QueueDequeue", "handle:Ref(string)", ""); }
OpDef queue_dequeue_v2_op() { return row("QueueDequeueV2", "handle:resource", "stateful"); }

}  // namespace weir::ops
