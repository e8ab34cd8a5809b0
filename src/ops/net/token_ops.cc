#include "graph/infer_context.h"
#include "ops/control/dataflow.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs = "T:type; key:string; numbered_frames:bool=False";

void infer_send(InferContext& c) { c.require_scalar(0); }

void infer_recv(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape::unknown());
}

}  // namespace

// As _StepSend and _StepRecv, in parts of graphs that TensorFlow's masters cut, who cut conditionals and loops, too: a
// value may be dead, and each iteration of a loop has its own. `numbered_frames`: how the sender's and receiver's
// release of TensorFlow tells loops apart (runtime/dataflow_exchange.h).
OpDef token_send_op() {
  return {.name = "_TokenSend",
          .inputs = "step:int64; value:T",
          .attrs = kAttrs,
          .flags = "stateful",
          .host = "step, value",
          .infer = infer_send,
          .gradient = not_differentiable,
          .cpu = {.select = no_kernel<DataflowKind::Send>}};
}

OpDef token_recv_op() {
  return {.name = "_TokenRecv",
          .inputs = "step:int64",
          .outputs = "value:T",
          .attrs = kAttrs,
          .flags = "stateful",
          .host = "step, value",
          .infer = infer_recv,
          .gradient = not_differentiable,
          .cpu = {.select = no_kernel<DataflowKind::Receive>}};
}

}  // namespace weir::ops
