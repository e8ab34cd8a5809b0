#include "ops/queue/queue.h"
#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// The shapes of elements are the queue's; whoever makes the node adds what it knows of them.
void infer(InferContext& c) {
  c.require_scalar(0);
  if (c.inputs() == 1) return;
  c.require_scalar(1);
  const Tensor count = c.value(1);
  if (count.valid() && count.scalar<int32_t>() < 0) {
    c.fail(fmt::format("Input 'n' must be >= 0, but is {}", count.scalar<int32_t>()));
  }
}

Queue& queue_of(KernelContext& c) {
  auto& queue = c.resource<Queue>(0);
  if (c.node().attr<std::vector<DType>>("component_types") != queue.options().types) {
    throw invalid_argument("Signature mismatch: the elements of {} have other types than the operation wants",
                           queue.describe());
  }
  return queue;
}

void start_one(KernelContext& c, Completion done) { queue_of(c).dequeue(c, done); }

template <bool up_to>
void start_many(KernelContext& c, Completion done) {
  const int32_t count = c.scalar<int32_t>(1);
  if (count < 0) {
    throw invalid_argument("{} requested {} < 0 elements", up_to ? "DequeueUpToOp" : "DequeueManyOp", count);
  }
  queue_of(c).dequeue_many(count, up_to, c, done);
}

enum class Amount { One, Many, UpTo };

OpDef row(std::string_view name, std::string_view inputs, Amount amount) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "components:component_types",
          .attrs = "component_types:list(type)>=1; timeout_ms:int=-1",
          .flags = inputs.starts_with("handle:Ref") ? "" : "stateful",
          .host = amount == Amount::One ? "components" : "n, components",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = amount == Amount::One    ? start_any<start_one>
                           : amount == Amount::Many ? start_any<start_many<false>>
                                                    : start_any<start_many<true>>},
          .waits = true};
}

constexpr std::string_view kRef = "handle:Ref(string)", kResource = "handle:resource";
constexpr std::string_view kRefCount = "handle:Ref(string); n:int32", kResourceCount = "handle:resource; n:int32";

}  // namespace

OpDef queue_dequeue_op() { return row("QueueDequeue", kRef, Amount::One); }
OpDef queue_dequeue_v2_op() { return row("QueueDequeueV2", kResource, Amount::One); }
OpDef queue_dequeue_many_op() { return row("QueueDequeueMany", kRefCount, Amount::Many); }
OpDef queue_dequeue_many_v2_op() { return row("QueueDequeueManyV2", kResourceCount, Amount::Many); }
OpDef queue_dequeue_up_to_op() { return row("QueueDequeueUpTo", kRefCount, Amount::UpTo); }
OpDef queue_dequeue_up_to_v2_op() { return row("QueueDequeueUpToV2", kResourceCount, Amount::UpTo); }

}  // namespace weir::ops
