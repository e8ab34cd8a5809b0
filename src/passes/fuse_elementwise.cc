#include <algorithm>
#include <set>
#include <unordered_map>

#include "ops/elementwise.h"
#include "passes/place.h"

namespace weir {
namespace {

constexpr size_t kMaxInstructions = 64;
constexpr size_t kMaxInputs = 24;

using Kind = ElementwiseBody::Kind;

// Grows groups of elementwise float nodes from their last node upwards. A node joins when everything that reads it is
// in the group already, so the group has one result and can never be part of a cycle.
class Fuser {
 public:
  Fuser(Ir& ir, const PassContext& context)
      : ir_(ir), context_(context), uses_(ir.use_counts()), controlled_(ir.has_control_readers()) {
    grouped_.assign(ir.nodes.size(), false);
    for (const IrEdge& fetch : ir.fetches) controlled_[static_cast<size_t>(fetch.node)] = true;
  }

  void run() {
    std::vector<int> order = ir_.topological_order();
    position_.assign(ir_.nodes.size(), 0);
    for (size_t i = 0; i < order.size(); ++i) position_[static_cast<size_t>(order[i])] = static_cast<int>(i);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!grouped_[static_cast<size_t>(*it)] && ir_[*it].types.size() == 1 && ir_[*it].types[0] == DType::Float32 &&
          fusible(*it)) {
        fuse(*it);
      }
    }
  }

 private:
  bool absorbable(int id) const { return !controlled_[static_cast<size_t>(id)] && !grouped_[static_cast<size_t>(id)]; }

  // A comparison is cheap: each group that needs its truth values computes them for itself when others do, too. What a
  // copied one reads is copied with it: the original still reads the original.
  bool is_copied(int id, bool by_copied) const {
    return ir_[id].types[0] == DType::Bool && (by_copied || uses_[static_cast<size_t>(id)] != 1 || !absorbable(id));
  }

  // Has a tile function, and every truth value that it reads is computed by a node that can be computed along.
  bool fusible(int id) const {
    const IrNode& node = ir_[id];
    if (node.is_feed() || node.is_constant() || node.types.size() != 1 || !node.shapes[0].is_known()) return false;
    const Kind kind = node.op->def->elementwise.kind;
    if (kind == Kind::None || (kind == Kind::Sum && node.inputs.size() < 2)) return false;
    if (node.types[0] != DType::Float32 && node.types[0] != DType::Bool) return false;
    if (kind == Kind::Cast && (ir_.type(node.inputs[0]) != DType::Bool || node.types[0] != DType::Float32))
      return false;
    // A vector condition picks whole rows: not elementwise.
    if (kind == Kind::Select && ir_.shape(node.inputs[0]) != node.shapes[0]) return false;
    for (const IrEdge& input : node.inputs) {
      DType type = ir_.type(input);
      if (!ir_.shape(input).is_known()) return false;
      if (type == DType::Float32) continue;
      if (type != DType::Bool) return false;
      if (ir_.shape(input) != node.shapes[0] || ir_[input.node].device != node.device || !fusible(input.node))
        return false;
    }
    return true;
  }

  void fuse(int root) {
    std::vector<int> members = {root};
    std::set<int> copies;
    std::unordered_map<int, int> uses_inside;
    for (size_t at = 0; at < members.size() && members.size() < kMaxInstructions; ++at) {
      const bool copied = copies.count(members[at]) > 0;
      for (const IrEdge& input : ir_[members[at]].inputs) {
        int id = input.node;
        if (ir_.type(input) == DType::Bool) {
          if (is_copied(id, copied)) copies.insert(id);
          if (std::find(members.begin(), members.end(), id) == members.end()) members.push_back(id);
          continue;
        }
        if (copied) continue;  // the original may still read it
        if (++uses_inside[id] != uses_[static_cast<size_t>(id)]) continue;
        const bool here = ir_[id].device == ir_[root].device;
        if (here && absorbable(id) && fusible(id) && ir_[id].shapes[0] == ir_[root].shapes[0]) members.push_back(id);
      }
    }
    // Truth values exist inside a group only, so a group that the size limit cuts off is none.
    if (members.size() < 2 || members.size() >= kMaxInstructions) return;
    std::sort(members.begin(), members.end(),
              [&](int a, int b) { return position_[static_cast<size_t>(a)] < position_[static_cast<size_t>(b)]; });
    replace(root, members, copies);
  }

  void replace(int root, const std::vector<int>& members, const std::set<int>& copies) {
    std::set<int> inside(members.begin(), members.end());
    std::vector<IrEdge> inputs;
    for (int id : members) {
      for (const IrEdge& input : ir_[id].inputs) {
        if (inside.count(input.node)) continue;
        if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
      }
    }
    if (inputs.size() > kMaxInputs) return;

    ElementwiseProgram program;
    program.inputs = static_cast<int>(inputs.size());
    std::unordered_map<int, int> value_of;  // member -> value
    auto value = [&](const IrEdge& edge) {
      if (inside.count(edge.node)) return value_of.at(edge.node);
      return static_cast<int>(std::find(inputs.begin(), inputs.end(), edge) - inputs.begin());
    };
    std::vector<int> control;
    for (int id : members) {
      const IrNode& node = ir_[id];
      value_of[id] = emit(program, node, value);
      control.insert(control.end(), node.control.begin(), node.control.end());
    }
    program.outputs = {value_of.at(root)};

    IrNode node = ir_[root];
    node.op = find_op("_FusedElementwise");
    node.attrs = {};
    node.attrs.set("program", program.encode());
    node.attrs.set("N", static_cast<int64_t>(inputs.size()));
    node.attrs.set("T", DType::Float32);
    node.inputs = std::move(inputs);
    node.control = std::move(control);
    if (!has_kernel(context_, ir_, node)) return;
    for (int id : members) {
      note_assumptions(ir_[id]);
      if (copies.count(id)) continue;  // if nobody needs the original in the end, it is swept away
      grouped_[static_cast<size_t>(id)] = true;
      ir_[id].dead = id != root;
    }
    ir_[root] = std::move(node);
  }

  // These have no broadcasting of their own, which the fused loop would do without a word.
  void note_assumptions(const IrNode& node) {
    const Kind kind = node.op->def->elementwise.kind;
    if (!node.varies || (kind != Kind::Select && kind != Kind::Sum)) return;
    for (size_t i = 1; i < node.inputs.size(); ++i) ir_.equal_shapes.push_back({node.inputs[0], node.inputs[i]});
  }

  template <class Value>
  static int emit(ElementwiseProgram& program, const IrNode& node, const Value& value) {
    const ElementwiseBody& body = node.op->def->elementwise;
    const int first = value(node.inputs[0]);
    switch (body.kind) {
      case Kind::Unary:
        return program.add(body.unary, first);
      case Kind::Binary:
        return program.add(body.binary, first, value(node.inputs[1]));
      case Kind::Select:
        return program.add_select(first, value(node.inputs[1]), value(node.inputs[2]));
      case Kind::Sum: {
        int sum = first;
        for (size_t i = 1; i < node.inputs.size(); ++i) sum = program.add(BinaryFn::Add, sum, value(node.inputs[i]));
        return sum;
      }
      case Kind::Cast:
      case Kind::None:
        break;
    }
    return first;
  }

  Ir& ir_;
  const PassContext& context_;
  std::vector<int> uses_;
  std::vector<bool> controlled_;
  std::vector<bool> grouped_;
  std::vector<int> position_;
};

}  // namespace

void fuse_elementwise(Ir& ir, PassContext& context) { Fuser(ir, context).run(); }

}  // namespace weir
