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

// Never waits, but is one of those that do: its input then has memory of its own, which is shared and not copied.
void start(KernelContext& c, Completion done) {
  auto& state = c.state<State>();
  state.rendezvous->send(c.scalar<int64_t>(0), state.key, c.input_tensor(1));
  done();
}

}  // namespace

// The value for whoever receives `key` in the step of that number.
OpDef step_send_op() {
  return {.name = "_StepSend",
          .inputs = "step:int64; value:T",
          .attrs = "T:type; key:string",
          .flags = "stateful",
          .host = "step, value",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<start>, .prepare = prepared<prepare>},
          .waits = true};
}

}  // namespace weir::ops
