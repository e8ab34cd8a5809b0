#include "ops/queue/queue.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer_one(InferContext& c) { c.require_scalar(0); }

void infer_many(InferContext& c) {
  c.require_scalar(0);
  for (int i = 1; i < c.inputs(); ++i) c.require_min_rank(i, 1);
}

Queue::Row components(KernelContext& c) {
  Queue::Row row;
  row.reserve(static_cast<size_t>(c.inputs() - 1));
  for (int i = 1; i < c.inputs(); ++i) row.push_back(c.input_tensor(i));
  return row;
}

void start_one(KernelContext& c, Completion done) { c.resource<Queue>(0).enqueue(components(c), c, done); }
void start_many(KernelContext& c, Completion done) { c.resource<Queue>(0).enqueue_many(components(c), c, done); }

constexpr std::string_view kRef = "handle:Ref(string); components:Tcomponents";
constexpr std::string_view kResource = "handle:resource; components:Tcomponents";

// One element, or the rows of a batch.
OpDef row(std::string_view name, std::string_view inputs, bool many) {
  return {.name = name,
          .inputs = inputs,
          .attrs = "Tcomponents:list(type)>=1; timeout_ms:int=-1",
          .flags = inputs == kRef ? "" : "stateful",
          .host = "components",
          .infer = many ? infer_many : infer_one,
          .gradient = not_differentiable,
          .cpu = {.start = many ? start_any<start_many> : start_any<start_one>},
          .waits = true};
}

}  // namespace

OpDef queue_enqueue_op() { return row("QueueEnqueue", kRef, false); }
OpDef queue_enqueue_v2_op() { return row("QueueEnqueueV2", kResource, false); }
OpDef queue_enqueue_many_op() { return row("QueueEnqueueMany", kRef, true); }
OpDef queue_enqueue_many_v2_op() { return row("QueueEnqueueManyV2", kResource, true); }

}  // namespace weir::ops
