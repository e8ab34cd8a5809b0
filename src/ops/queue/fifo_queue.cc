#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/queue/queue.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<Queue> queue;
};

State prepare(PrepareContext& c) {
  return {c.named_resource<Queue>([&](const std::string& name) {
    return make_resource<Queue>(Queue::Options{.kind = "FIFOQueue",
                                               .name = name,
                                               .capacity = c.attr<int64_t>("capacity"),
                                               .types = c.attr<std::vector<DType>>("component_types"),
                                               .shapes = c.attr<std::vector<Shape>>("shapes")});
  })};
}

void cpu(KernelContext& c) { c.set_resource(0, c.state<State>().queue.get()); }

OpDef row(std::string_view name, std::string_view outputs) {
  return {.name = name,
          .outputs = outputs,
          .attrs =
              "component_types:list(type)>=1; shapes:list(shape)>=0=[]; capacity:int=-1; container:string=''; "
              "shared_name:string=''",
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace

OpDef fifo_queue_op() { return row("FIFOQueue", "handle:Ref(string)"); }
OpDef fifo_queue_v2_op() { return row("FIFOQueueV2", "handle:resource"); }

}  // namespace weir::ops
