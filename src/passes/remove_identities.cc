#include <algorithm>

#include "passes/ir.h"

namespace weir {
namespace {

// Puts dimensions into an order that is known, and the one in which they stand: what contractions of the last dimension
// are made of.
bool permutes_nothing(const Ir& ir, const IrNode& node) {
  if (node.inputs.size() != 2 || node.op->inputs.size() != 2 || node.op->inputs[1].name != "perm") return false;
  if (!node.op->pure()) return false;
  if (node.types[0] == DType::Complex64 || node.types[0] == DType::Complex128) return false;  // may be conjugated
  const IrEdge& order = node.inputs[1];
  const Tensor& perm = ir[order.node].values[static_cast<size_t>(order.output)];
  if (!perm.valid() || ir[order.node].varies) return false;
  for (int64_t i = 0; i < perm.elements(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t axis = perm.dtype() == DType::Int64 ? perm.data<int64_t>()[at] : perm.data<int32_t>()[at];
    if (axis != i) return false;
  }
  return true;
}

// The input that comes back from a sum with 0, a difference with 0, a product with 1 or a quotient by 1; -1: none does.
int unchanged_operand(const Ir& ir, const IrNode& node) {
  const ElementwiseBody& body = node.op->def->elementwise;
  const bool commutes = body == BinaryFn::Add || body == BinaryFn::Mul;
  if (node.types[0] != DType::Float32 || (!commutes && body != BinaryFn::Sub && body != BinaryFn::Div)) return -1;
  const float neutral = body == BinaryFn::Add || body == BinaryFn::Sub ? 0.0f : 1.0f;
  for (int i = 0; i < 2; ++i) {
    const IrEdge &other = node.inputs[static_cast<size_t>(i)], &edge = node.inputs[static_cast<size_t>(1 - i)];
    const Tensor& value = ir[edge.node].values[static_cast<size_t>(edge.output)];
    if (!value.valid() || value.elements() != 1 || ir[edge.node].varies || value.data<float>()[0] != neutral) continue;
    if ((i == 1 && !commutes) || !node.shapes[0].is_known() || ir.shape(other) != node.shapes[0]) continue;
    return i;
  }
  return -1;
}

// A reduction over no axes, or over dimensions of size 1 that it keeps: what gradients of operations that might have
// broadcast are full of when the graph does not know the size of the batch.
bool reduces_nothing(const Ir& ir, const IrNode& node) {
  if (node.op->def->loop.kind != LoopPart::Kind::Reduce || !node.shapes[0].is_known()) return false;
  const IrEdge& axes = node.inputs[1];
  return ir[axes.node].values[static_cast<size_t>(axes.output)].valid() && ir.shape(node.inputs[0]) == node.shapes[0];
}

// Gives its input on unchanged, and nothing else.
bool is_identity(const Ir& ir, const IrNode& node) {
  if (node.is_feed() || !node.control.empty() || node.types.size() != 1 || node.is_constant()) return false;
  if (unchanged_operand(ir, node) >= 0 || reduces_nothing(ir, node)) return true;
  if (permutes_nothing(ir, node)) return true;
  if (node.op->def->elementwise == ElementwiseBody::Kind::Cast) return ir.type(node.inputs[0]) == node.types[0];
  int alias = node.op->def->alias;
  if (alias < 0 || !node.op->pure()) return false;
  const Shape& in = ir.shape(node.inputs[static_cast<size_t>(alias)]);
  return node.op->role == Role::Identity || (in.is_known() && in == node.shapes[0] && is_fixed_view(ir, node));
}

IrEdge source(const Ir& ir, const IrNode& node) {
  if (const int operand = unchanged_operand(ir, node); operand >= 0) return node.inputs[static_cast<size_t>(operand)];
  int alias = node.op->def->alias;
  return node.inputs[alias < 0 ? 0 : static_cast<size_t>(alias)];
}

void add_unique(std::vector<int>& list, int value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Which nodes that do more than compute come before each node: they change a variable, print, or may fail. Nothing but
// time tells that the others have run.
class Effects {
 public:
  explicit Effects(const Ir& ir) : ir_(ir), before_(ir.nodes.size()) {}

  // To be called for producers first, when the node's edges are final.
  void note(int id) {
    const IrNode& node = ir_[id];
    Set set;
    for (const IrEdge& input : node.inputs) add(set, of(input.node));
    for (int control : node.control) add(set, of(control));
    if (is_effect(node)) {
      set.resize(std::max(set.size(), count_ / 64 + 1));
      set[count_ / 64] |= uint64_t{1} << count_ % 64;
      ++count_;
    }
    before_[static_cast<size_t>(id)] = std::move(set);
  }

  // Of the nodes that `id` waits for: those that bring effects which nothing else that it waits for or reads brings.
  std::vector<int> needed(int id, const std::vector<int>& control) const {
    Set known;
    for (const IrEdge& input : ir_[id].inputs) add(known, of(input.node));
    std::vector<int> kept;
    for (int node : control) {
      if (is_in(of(node), known)) continue;
      add(known, of(node));
      kept.push_back(node);
    }
    return kept;
  }

 private:
  using Set = std::vector<uint64_t>;

  static bool is_effect(const IrNode& node) {
    if (node.is_feed()) return false;
    if (node.op->role == Role::Placeholder) return true;  // fails
    return node.op->effect != Effect::None && node.op->effect != Effect::Reads;
  }
  const Set& of(int node) const { return before_[static_cast<size_t>(node)]; }
  static void add(Set& to, const Set& more) {
    to.resize(std::max(to.size(), more.size()));
    for (size_t i = 0; i < more.size(); ++i) to[i] |= more[i];
  }
  static bool is_in(const Set& part, const Set& whole) {
    for (size_t i = 0; i < part.size(); ++i) {
      if (part[i] & ~(i < whole.size() ? whole[i] : 0)) return false;
    }
    return true;
  }

  const Ir& ir_;
  std::vector<Set> before_;
  size_t count_ = 0;
};

}  // namespace

void remove_identities(Ir& ir, PassContext&) {
  // Producers come first, so a replacement is final when it is looked up.
  std::vector<IrEdge> replacement(ir.nodes.size());
  auto resolve = [&](const IrEdge& edge) {
    const IrEdge& to = replacement[static_cast<size_t>(edge.node)];
    return to.node >= 0 ? to : edge;
  };
  Effects effects(ir);
  for (int id : ir.topological_order()) {
    IrNode& node = ir[id];
    for (IrEdge& input : node.inputs) input = resolve(input);
    std::vector<int> control;
    for (int before : node.control) {
      const IrNode& other = ir[before];
      if (IrEdge to = replacement[static_cast<size_t>(before)]; to.node >= 0) {
        add_unique(control, to.node);
      } else if (other.op->role == Role::Nothing) {
        for (int further : other.control) add_unique(control, further);
      } else {
        add_unique(control, before);
      }
    }
    // Gates of gradients (see tuple()) wait for values; that would only keep their neighbours from being fused.
    if (node.op->role == Role::Identity && !control.empty()) control = effects.needed(id, control);
    node.control = std::move(control);
    effects.note(id);
    if (!is_identity(ir, node)) continue;
    replacement[static_cast<size_t>(id)] = source(ir, node);
    if (node.varies) ir.equal_shapes.push_back({source(ir, node), {id, 0}});
  }
  for (IrEdge& fetch : ir.fetches) fetch = resolve(fetch);
  for (int& target : ir.targets) {
    if (IrEdge to = replacement[static_cast<size_t>(target)]; to.node >= 0) target = to.node;
  }
  ir.sweep();
}

}  // namespace weir
