#include "passes/ir.h"

#include <algorithm>

#include "base/errors.h"

namespace weir {

bool gives_named_handle(const Op& op) {
  if (!op.inputs.empty() || op.outputs.empty() || op.def->cpu.gives_outputs) return false;
  return op.outputs[0].is_ref || op.outputs[0].type == DType::Resource;
}

int variable_of(const Ir& ir, IrEdge edge) {
  for (;;) {
    const IrNode& node = ir[edge.node];
    if (node.inputs.empty() || !node.op->has_ref_input()) return edge.node;
    edge = node.inputs[0];
  }
}

bool IrNode::is_constant() const {
  return !types.empty() && std::all_of(values.begin(), values.end(), [](const Tensor& t) { return t.valid(); });
}

int Ir::add(IrNode node) {
  node.shapes.resize(node.types.size(), Shape::unknown());
  node.values.resize(node.types.size());
  nodes.push_back(std::move(node));
  return size() - 1;
}

std::vector<int> Ir::topological_order() const {
  std::vector<int> order, waiting(nodes.size(), 0);
  std::vector<std::vector<int>> readers(nodes.size());
  for (int i = 0; i < size(); ++i) {
    const IrNode& node = (*this)[i];
    if (node.dead) continue;
    for (const IrEdge& input : node.inputs) {
      readers[static_cast<size_t>(input.node)].push_back(i);
      ++waiting[static_cast<size_t>(i)];
    }
    for (int control : node.control) {
      readers[static_cast<size_t>(control)].push_back(i);
      ++waiting[static_cast<size_t>(i)];
    }
  }
  size_t live = 0;
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].dead) continue;
    ++live;
    if (waiting[static_cast<size_t>(i)] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (int reader : readers[static_cast<size_t>(order[at])]) {
      if (--waiting[static_cast<size_t>(reader)] == 0) order.push_back(reader);
    }
  }
  if (order.size() != live) throw invalid_argument("the graph has a cycle");
  return order;
}

std::vector<int> Ir::use_counts() const {
  std::vector<int> counts(nodes.size(), 0);
  for (const IrNode& node : nodes) {
    if (node.dead) continue;
    for (const IrEdge& input : node.inputs) ++counts[static_cast<size_t>(input.node)];
  }
  for (const IrEdge& fetch : fetches) ++counts[static_cast<size_t>(fetch.node)];
  return counts;
}

std::vector<bool> Ir::has_control_readers() const {
  std::vector<bool> result(nodes.size(), false);
  for (const IrNode& node : nodes) {
    if (node.dead) continue;
    for (int control : node.control) result[static_cast<size_t>(control)] = true;
  }
  for (int target : targets) result[static_cast<size_t>(target)] = true;
  return result;
}

void Ir::redirect(const IrEdge& from, const IrEdge& to) {
  for (IrNode& node : nodes) {
    if (node.dead) continue;
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  }
  std::replace(fetches.begin(), fetches.end(), from, to);
}

void Ir::sweep() {
  std::vector<bool> needed(nodes.size(), false);
  std::vector<int> stack;
  auto need = [&](int node) {
    if (!needed[static_cast<size_t>(node)]) {
      needed[static_cast<size_t>(node)] = true;
      stack.push_back(node);
    }
  };
  for (const IrEdge& fetch : fetches) need(fetch.node);
  for (int target : targets) need(target);
  while (!stack.empty()) {
    int node = stack.back();
    stack.pop_back();
    for (const IrEdge& input : (*this)[node].inputs) need(input.node);
    for (int control : (*this)[node].control) need(control);
  }
  for (int i = 0; i < size(); ++i) {
    if (!needed[static_cast<size_t>(i)]) (*this)[i].dead = true;
  }
}

bool is_fixed_view(const Ir& ir, const IrNode& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const IrEdge& input = node.inputs[i];
    const bool known = ir[input.node].values[static_cast<size_t>(input.output)].valid();
    if (static_cast<int>(i) != node.op->def->alias && !known) return false;
  }
  return true;
}

}  // namespace weir
