#include "weir/queue_ops.h"

#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {
namespace {

NodeBuilder queue_node(std::string_view op, Graph& graph, const std::vector<DType>& types, const QueueOptions& options,
                       std::string_view name, In::Where where) {
  return NodeBuilder(op, name, where)
      .graph(graph)
      .attr("component_types", types)
      .attr("shapes", options.shapes)
      .attr("capacity", options.capacity)
      .attr("container", options.container)
      .attr("shared_name", options.shared_name);
}

}  // namespace

QueueBase::QueueBase(const Output& handle) : handle_(handle) {
  const AttrMap& attrs = handle.op().attrs();
  if (!attrs.find("component_types") || !attrs.find("shapes")) {
    throw invalid_argument("'{}' is no queue", handle.name());
  }
  types_ = attrs.get<std::vector<DType>>("component_types");
  shapes_ = attrs.get<std::vector<Shape>>("shapes");
}

Operation QueueBase::enqueue(const InList& components, std::string_view name, Where where) const {
  return NodeBuilder("QueueEnqueueV2", name, where)
      .input(handle_)
      .attr("Tcomponents", types_)
      .input(components)
      .build();
}

Operation QueueBase::enqueue_many(const InList& components, std::string_view name, Where where) const {
  return NodeBuilder("QueueEnqueueManyV2", name, where)
      .input(handle_)
      .attr("Tcomponents", types_)
      .input(components)
      .build();
}

std::vector<Output> QueueBase::taken(std::string_view op, std::optional<In> count, std::string_view name,
                                     Where where) const {
  NodeBuilder builder(op, name, where);
  builder.input(handle_);
  if (count) builder.input(*count);
  const Operation node = builder.attr("component_types", types_).build();
  std::vector<Output> components;
  for (size_t i = 0; i < types_.size(); ++i) {
    components.push_back(node.output(static_cast<int>(i)));
    if (shapes_.empty()) continue;
    Shape shape = shapes_[i];
    if (count) {
      const Tensor value = op == "QueueDequeueManyV2" ? constant_value(node.input(1)) : Tensor();
      shape = Shape{value.valid() ? value.scalar<int32_t>() : kUnknown};
      for (int64_t size : shapes_[i].dims()) shape.append(size);
    }
    components.back().set_shape(shape);
  }
  return components;
}

std::vector<Output> QueueBase::dequeue(std::string_view name, Where where) const {
  return taken("QueueDequeueV2", {}, name, where);
}
std::vector<Output> QueueBase::dequeue_many(const In& count, std::string_view name, Where where) const {
  return taken("QueueDequeueManyV2", count, name, where);
}
std::vector<Output> QueueBase::dequeue_up_to(const In& count, std::string_view name, Where where) const {
  return taken("QueueDequeueUpToV2", count, name, where);
}

Output QueueBase::size(std::string_view name, Where where) const {
  return NodeBuilder("QueueSizeV2", name, where).input(handle_).output();
}

Output QueueBase::is_closed(std::string_view name, Where where) const {
  return NodeBuilder("QueueIsClosedV2", name, where).input(handle_).output();
}

Operation QueueBase::close(const CloseOptions& options, std::string_view name, Where where) const {
  return NodeBuilder("QueueCloseV2", name, where)
      .input(handle_)
      .attr("cancel_pending_enqueues", options.cancel_pending_enqueues)
      .build();
}

FifoQueue::FifoQueue(Graph& graph, const std::vector<DType>& types, const QueueOptions& options, std::string_view name,
                     Where where)
    : QueueBase(queue_node("FIFOQueueV2", graph, types, options, name, where).output()) {}

PaddingFifoQueue::PaddingFifoQueue(Graph& graph, const std::vector<DType>& types, const QueueOptions& options,
                                   std::string_view name, Where where)
    : QueueBase(queue_node("PaddingFIFOQueueV2", graph, types, options, name, where).output()) {}

RandomShuffleQueue::RandomShuffleQueue(Graph& graph, const std::vector<DType>& types,
                                       const RandomShuffleQueueOptions& options, std::string_view name, Where where) {
  // Both seeds of TensorFlow's Python: without one the queue differs from process to process.
  Seeds seeds = graph.next_seeds(options.seed);
  if (seeds.seed == 0 && seeds.seed2 == 0 && options.seed) seeds.seed2 = 1;
  handle_ = queue_node("RandomShuffleQueueV2", graph, types, options, name, where)
                .attr("min_after_dequeue", options.min_after_dequeue)
                .attr("seed", seeds.seed)
                .attr("seed2", seeds.seed2)
                .output();
  types_ = types;
  shapes_ = options.shapes;
}

PriorityQueue::PriorityQueue(Graph& graph, const std::vector<DType>& types, const QueueOptions& options,
                             std::string_view name, Where where) {
  handle_ = queue_node("PriorityQueueV2", graph, types, options, name, where).output();
  types_ = types;
  types_.insert(types_.begin(), DType::Int64);
  shapes_ = options.shapes;
  if (!shapes_.empty()) shapes_.insert(shapes_.begin(), Shape{});
}

}  // namespace weir
