#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/net/rendezvous.h"
#include "ops/run_control.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<Rendezvous> rendezvous;
  std::string key;
  DType type;
  Shape shape;
};

State prepare(PrepareContext& c) {
  auto found = c.resources().find<Rendezvous>(Rendezvous::kContainer, Rendezvous::kName);
  if (!found) throw error(Code::FailedPrecondition, "only the parts of a server's step can receive");
  return {std::move(found), c.attr<std::string>("key"), c.attr<DType>("T"), c.attr<Shape>("shape")};
}

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, c.attr<Shape>("shape"));
}

void start(KernelContext& c, Completion done) {
  auto& state = c.state<State>();
  const std::stop_token stop = c.control() ? c.control()->stop : std::stop_token();
  state.rendezvous->receive(c.scalar<int64_t>(0), state.key, stop,
                            [&c, &state, done](Tensor value, std::exception_ptr failed) {
                              try {
                                if (failed) std::rethrow_exception(failed);
                                if (!value.valid()) {
                                  throw error(Code::Internal, "'{}' is of a branch that does not run", state.key);
                                }
                                if (value.dtype() != state.type) {
                                  throw error(Code::Internal, "a value of type {} came for '{}'; {} is wanted",
                                              dtype_name(value.dtype()), state.key, dtype_name(state.type));
                                }
                                if (!state.shape.compatible(value.shape())) {
                                  throw error(Code::Internal, "a value of shape {} came for '{}'; {} was promised",
                                              value.shape().str(), state.key, state.shape.str());
                                }
                                c.set_output(0, std::move(value));
                              } catch (...) {
                                failed = std::current_exception();
                              }
                              done(failed);
                            });
}

}  // namespace

// The value that another part of the step sends under `key`; `shape` is what the sender knows of it.
OpDef step_recv_op() {
  return {.name = "_StepRecv",
          .inputs = "step:int64",
          .outputs = "value:T",
          .attrs = "T:type; key:string; shape:shape=unknown",
          .flags = "stateful",
          .host = "step, value",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<start>, .prepare = prepared<prepare>},
          .waits = true};
}

}  // namespace weir::ops
