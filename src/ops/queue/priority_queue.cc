#include "ops/queue/queue_node.h"

namespace weir::ops {
namespace {

QueueState prepare(PrepareContext& c) { return find_queue(c, {.kind = Queue::Kind::Priority}); }

OpDef row(std::string_view name, std::string_view outputs) {
  return queue_row(name, outputs,
                   "component_types:list(type)>=0=[]; shapes:list(shape)>=0; capacity:int=-1; container:string=''; "
                   "shared_name:string=''",
                   prepared<prepare>);
}

}  // namespace

OpDef priority_queue_op() { return row("PriorityQueue", "handle:Ref(string)"); }
OpDef priority_queue_v2_op() { return row("PriorityQueueV2", "handle:resource"); }

}  // namespace weir::ops
