#include "weir/queue_ops.h"

namespace weir {

FifoQueue::FifoQueue(Graph& graph, std::vector<DType> types, const QueueOptions& options, std::string_view name)
    : types_(std::move(types)) {
  handle_ = NodeBuilder("FIFOQueueV2", name)
                .graph(graph)
                .attr("component_types", types_)
                .attr("shapes", options.shapes)
                .attr("capacity", options.capacity)
                .attr("container", options.container)
                .attr("shared_name", options.shared_name)
                .output();
}

Operation FifoQueue::enqueue(const InList& components, std::string_view name) const {
  return NodeBuilder("QueueEnqueueV2", name).input(handle_).input(components).build();
}

std::vector<Output> FifoQueue::dequeue(std::string_view name) const {
  Operation node = NodeBuilder("QueueDequeueV2", name).input(handle_).attr("component_types", types_).build();
  std::vector<Output> components;
  for (int i = 0; i < static_cast<int>(types_.size()); ++i) components.push_back(node.output(i));
  return components;
}

Output FifoQueue::size(std::string_view name) const { return NodeBuilder("QueueSizeV2", name).input(handle_).output(); }

Output FifoQueue::is_closed(std::string_view name) const {
  return NodeBuilder("QueueIsClosedV2", name).input(handle_).output();
}

Operation FifoQueue::close(const CloseOptions& options, std::string_view name) const {
  return NodeBuilder("QueueCloseV2", name)
      .input(handle_)
      .attr("cancel_pending_enqueues", options.cancel_pending_enqueues)
      .build();
}

}  // namespace weir
