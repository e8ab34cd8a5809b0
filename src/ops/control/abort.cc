#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext&) {}

// TensorFlow ends the process here, with or without an error. Weir ends the run: a graph must not take a server, or a
// program with other sessions, down with it.
void cpu(KernelContext& c) {
  const auto& message = c.node().attr<std::string>("error_msg");
  if (c.node().attr<bool>("exit_without_error")) c.fail("the graph asks to end: " + message, Code::Aborted);
  c.fail("Abort_op intentional failure; " + message, Code::Aborted);
}

}  // namespace

OpDef abort_op() {
  return {.name = "Abort",
          .attrs = "error_msg:string=''; exit_without_error:bool=False",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .effect = Effect::Checks,
          .host_only = true};
}

}  // namespace weir::ops
