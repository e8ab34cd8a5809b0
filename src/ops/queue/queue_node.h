#pragma once

#include "graph/op_def.h"
#include "ops/queue/queue.h"

namespace weir::ops {

// What the rows of all kinds of queues share. TensorFlow has each twice: its handle is a reference to a string, or a
// resource.
struct QueueState {
  ResourcePtr<Queue> queue;
};
// Finds the queue that the node names, or makes it. `options` has what this kind of queue alone has.
QueueState find_queue(PrepareContext& c, Queue::Options options);

OpDef queue_row(std::string_view name, std::string_view outputs, std::string_view attrs,
                KernelState (*prepare)(PrepareContext&));

}  // namespace weir::ops
