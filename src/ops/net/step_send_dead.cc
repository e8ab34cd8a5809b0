#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/net/rendezvous.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<Rendezvous> rendezvous;
  std::string key;
};

State prepare(PrepareContext& c) {
  auto found = c.resources().find<Rendezvous>(Rendezvous::kContainer, Rendezvous::kName);
  if (!found) throw error(Code::FailedPrecondition, "only the parts of a server's step can send");
  return {std::move(found), c.attr<std::string>("key")};
}

void infer(InferContext& c) { c.require_scalar(0); }

void start(KernelContext& c, Completion done) {
  auto& state = c.state<State>();
  state.rendezvous->send_dead(c.scalar<int64_t>(0), state.key);
  done();
}

}  // namespace

// Tells whoever receives `key` that its value, of a branch that does not run, will not come. It runs when the other side
// of the Switch does.
OpDef step_send_dead_op() {
  return {.name = "_StepSendDead",
          .inputs = "step:int64",
          .attrs = "key:string",
          .flags = "stateful",
          .host = "step",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<start>, .prepare = prepared<prepare>},
          .waits = true};
}

}  // namespace weir::ops
