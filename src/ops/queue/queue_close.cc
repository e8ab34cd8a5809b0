#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/queue.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  bool cancel_pending_enqueues;
};

void infer(InferContext& c) { c.require_scalar(0); }

State prepare(PrepareContext& c) { return {c.attr<bool>("cancel_pending_enqueues")}; }

void start(KernelContext& c, Completion done) {
  c.resource<Queue>(0).close(c.state<State>().cancel_pending_enqueues, c, done);
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view flags) {
  return {.name = name,
          .inputs = inputs,
          .attrs = "cancel_pending_enqueues:bool=False",
          .flags = flags,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<start>, .prepare = prepared<prepare>},
          .waits = true};
}

}  // namespace

OpDef queue_close_op() { return row("QueueClose", "handle:Ref(string)", ""); }
OpDef queue_close_v2_op() { return row("QueueCloseV2", "handle:resource", "stateful"); }

}  // namespace weir::ops
