#include "graph/body_gradients.h"

#include "weir/ops.h"

namespace weir {

Output zero_gradient(const Output& x) {
  if (x.dtype() == DType::Variant) return zeros_like(x);
  if (x.dtype() != DType::Resource) {
    return x.shape().is_known() ? zeros(x.graph(), x.shape(), x.dtype()) : zeros_like(x);
  }
  const Node* handle = x.node();
  while (handle->op->role == Role::Identity) handle = handle->inputs[0].node();
  const DType dtype = handle->attrs.get<DType>("dtype");
  const auto& shape = handle->attrs.get<Shape>("shape");
  if (shape.is_known()) return zeros(x.graph(), shape, dtype);
  return zeros_like(NodeBuilder("ReadVariableOp").input(x).attr("dtype", dtype).output());
}

bool is_differentiated(const Output& input) {
  const auto* nodes = input.graph().impl().gradients.differentiated;
  return carries_gradient(input.dtype()) && (!nodes || nodes->contains(input.node()));
}

const std::unordered_set<const Node*>& walked_nodes(const Graph& graph) {
  static const std::unordered_set<const Node*> kNone;
  const auto* nodes = graph.impl().gradients.differentiated;
  return nodes ? *nodes : kNone;
}

void share_shapes(Body& gradient, Body& forward) {
  for (size_t i = 0; i < gradient.nodes.size();) {
    Node* node = gradient.nodes[i];
    const bool is_shape = node->op->def->from_shape && node->inputs.size() == 1;
    if (!is_shape || !forward.encloses(node->inputs[0].node()->body)) {
      ++i;
      continue;
    }
    std::lock_guard lock(node->graph->impl().storage.mutex);
    gradient.nodes.erase(gradient.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    node->body = &forward;
    forward.nodes.push_back(node);
  }
}

std::vector<Output> forward_reads(Body& gradient, const Body& forward) {
  std::vector<Output> reads;
  for (const Output& read : reads_between(gradient, forward)) {
    const Node& node = *read.node();
    if (node.op->role != Role::Constant) {
      reads.push_back(read);
      continue;
    }
    Graph& graph = read.graph();
    BodyScope scope(graph, &gradient);
    replace_in_body(gradient, read, graph.add({.op = "Const", .attrs = node.attrs}).output());
  }
  return reads;
}

}  // namespace weir
