#include "ops/queue/queue_node.h"

namespace weir::ops {
namespace {

QueueState prepare(PrepareContext& c) { return find_queue(c, {.kind = Queue::Kind::Fifo}); }

OpDef row(std::string_view name, std::string_view outputs) {
  return queue_row(name, outputs,
                   "component_types:list(type)>=1; shapes:list(shape)>=0=[]; capacity:int=-1; container:string=''; "
                   "shared_name:string=''",
                   prepared<prepare>);
}

}  // namespace

OpDef fifo_queue_op() { return row("FIFOQueue", "handle:Ref(string)"); }
OpDef fifo_queue_v2_op() { return row("FIFOQueueV2", "handle:resource"); }

}  // namespace weir::ops
