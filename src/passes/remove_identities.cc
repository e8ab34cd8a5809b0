#include <algorithm>

#include "passes/ir.h"

namespace weir {
namespace {

// Gives its input on unchanged, and nothing else.
bool is_identity(const Ir& ir, const IrNode& node) {
  if (node.is_feed() || !node.control.empty() || node.types.size() != 1 || node.is_constant()) return false;
  if (node.is("Cast")) return ir.type(node.inputs[0]) == node.types[0];
  int alias = node.op->def->alias;
  if (alias < 0 || !node.op->pure()) return false;
  const Shape& in = ir.shape(node.inputs[static_cast<size_t>(alias)]);
  return node.is("Identity") || (in.is_known() && in == node.shapes[0] && is_fixed_view(ir, node));
}

IrEdge source(const IrNode& node) {
  int alias = node.op->def->alias;
  return node.inputs[alias < 0 ? 0 : static_cast<size_t>(alias)];
}

// Whether nothing but time tells that the node has run. CheckNumerics is there to fail.
bool is_unobservable(const IrNode& node) { return node.op->pure() && !node.is("CheckNumerics"); }

void add_unique(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

void remove_identities(Ir& ir, PassContext&) {
  // Producers come first, so a replacement is final when it is looked up.
  std::vector<IrEdge> replacement(ir.nodes.size());
  auto resolve = [&](const IrEdge& edge) {
    const IrEdge& to = replacement[static_cast<size_t>(edge.node)];
    return to.node >= 0 ? to : edge;
  };
  for (int id : ir.topological_order()) {
    IrNode& node = ir[id];
    for (IrEdge& input : node.inputs) input = resolve(input);
    std::vector<int> control;
    for (int before : node.control) {
      const IrNode& other = ir[before];
      if (IrEdge to = replacement[static_cast<size_t>(before)]; to.node >= 0) {
        add_unique(control, to.node);
      } else if (other.is("NoOp")) {
        for (int further : other.control) add_unique(control, further);
      } else {
        add_unique(control, before);
      }
    }
    // Gates of gradients (see tuple()) wait for values; that would only keep their neighbours from being fused.
    if (node.is("Identity") && std::all_of(control.begin(), control.end(), [&](int before) {
          return !ir[before].is_feed() && is_unobservable(ir[before]);
        })) {
      control.clear();
    }
    node.control = std::move(control);
    if (is_identity(ir, node)) replacement[static_cast<size_t>(id)] = source(node);
  }
  for (IrEdge& fetch : ir.fetches) fetch = resolve(fetch);
  for (int& target : ir.targets) {
    if (IrEdge to = replacement[static_cast<size_t>(target)]; to.node >= 0) target = to.node;
  }
  ir.sweep();
}

}  // namespace weir
