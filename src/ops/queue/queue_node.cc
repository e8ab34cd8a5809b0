#include "ops/queue/queue_node.h"

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { c.set_resource(0, c.state<QueueState>().queue.get()); }

}  // namespace

QueueState find_queue(PrepareContext& c, Queue::Options options) {
  options.capacity = c.attr<int64_t>("capacity");
  options.types = c.attr<std::vector<DType>>("component_types");
  options.shapes = c.attr<std::vector<Shape>>("shapes");
  if (options.kind == Queue::Kind::Priority) {  // the priorities are a component that the attributes leave out
    options.types.insert(options.types.begin(), DType::Int64);
    if (!options.shapes.empty() || options.types.size() == 1) options.shapes.insert(options.shapes.begin(), Shape{});
  }
  for (const Shape& shape : options.shapes) {
    if (options.kind != Queue::Kind::PaddingFifo && !shape.is_known()) {
      throw invalid_argument("shape {} must be fully defined.", shape.str());
    }
  }
  QueueState state{c.named_resource<Queue>([&](const std::string& name) {
    options.name = name;
    return make_resource<Queue>(options);
  })};
  state.queue->require_same(options);
  return state;
}

OpDef queue_row(std::string_view name, std::string_view outputs, std::string_view attrs,
                KernelState (*prepare)(PrepareContext&)) {
  return {.name = name,
          .outputs = outputs,
          .attrs = attrs,
          .flags = "stateful",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepare}};
}

}  // namespace weir::ops
