#include "ops/queue/queue_node.h"

namespace weir::ops {
namespace {

QueueState prepare(PrepareContext& c) {
  return find_queue(c, {.kind = Queue::Kind::RandomShuffle,
                        .min_after_dequeue = c.attr<int64_t>("min_after_dequeue"),
                        .seed = c.attr<int64_t>("seed"),
                        .seed2 = c.attr<int64_t>("seed2")});
}

OpDef row(std::string_view name, std::string_view outputs) {
  return queue_row(name, outputs,
                   "component_types:list(type)>=1; shapes:list(shape)>=0=[]; capacity:int=-1; min_after_dequeue:int=0; "
                   "seed:int=0; seed2:int=0; container:string=''; shared_name:string=''",
                   prepared<prepare>);
}

}  // namespace

OpDef random_shuffle_queue_op() { return row("RandomShuffleQueue", "handle:Ref(string)"); }
OpDef random_shuffle_queue_v2_op() { return row("RandomShuffleQueueV2", "handle:resource"); }

}  // namespace weir::ops
