#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/queue.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}

void size(KernelContext& c) { *c.output<int32_t>() = static_cast<int32_t>(c.resource<Queue>(0).size()); }
void is_closed(KernelContext& c) { *c.output<bool>() = c.resource<Queue>(0).is_closed(); }

OpDef row(std::string_view name, std::string_view inputs, std::string_view outputs, std::string_view flags,
          Kernel cpu) {
  return {.name = name,
          .inputs = inputs,
          .outputs = outputs,
          .flags = flags,
          .host = outputs.substr(0, outputs.find(':')),
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = cpu,
          .effect = Effect::Reads};
}

}  // namespace

OpDef queue_size_op() { return row("QueueSize", "handle:Ref(string)", "size:int32", "", {.select = kernel_any<size>}); }
OpDef queue_size_v2_op() {
  return row("QueueSizeV2", "handle:resource", "size:int32", "stateful", {.select = kernel_any<size>});
}
OpDef queue_is_closed_op() {
  return row("QueueIsClosed", "handle:Ref(string)", "is_closed:bool", "", {.select = kernel_any<is_closed>});
}
OpDef queue_is_closed_v2_op() {
  return row("QueueIsClosedV2", "handle:resource", "is_closed:bool", "stateful", {.select = kernel_any<is_closed>});
}

}  // namespace weir::ops
