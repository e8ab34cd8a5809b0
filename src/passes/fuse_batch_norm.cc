#include <algorithm>

#include "passes/place.h"

namespace weir {
namespace {

// What stands behind an operation's fused form: a normalisation takes an image that is added to its result, the
// gradient of one takes the offset that the normalisation had.
bool takes_last(const IrNode& node, std::string_view input) {
  if (node.is_feed() || node.is_constant() || node.op->def->fused.empty()) return false;
  const Op* fused = find_op(node.op->def->fused);
  return fused && !fused->inputs.empty() && fused->inputs.back().name == input;
}

std::string_view activation_of(const IrNode& node) {
  const ElementwiseBody& body = node.op->def->elementwise;
  return body == UnaryFn::Relu ? "Relu" : body == UnaryFn::Relu6 ? "Relu6" : "";
}
std::string_view activation_of_gradient(const IrNode& node) {
  const ElementwiseBody& body = node.op->def->elementwise;
  return body == BinaryFn::ReluGrad ? "Relu" : body == BinaryFn::Relu6Grad ? "Relu6" : "";
}

class Fuser {
 public:
  Fuser(Ir& ir, const PassContext& context) : ir_(ir), context_(context), controlled_(ir.has_control_readers()) {
    readers_.resize(ir.nodes.size());
    std::vector<int> order = ir.topological_order();
    position_.assign(ir.nodes.size(), 0);
    for (size_t i = 0; i < order.size(); ++i) {
      position_[static_cast<size_t>(order[i])] = static_cast<int>(i);
      for (const IrEdge& input : ir[order[i]].inputs) readers_[static_cast<size_t>(input.node)].push_back(order[i]);
    }
    for (const IrEdge& fetch : ir.fetches) readers_[static_cast<size_t>(fetch.node)].push_back(-1);
  }

  // y = act(norm(x) + side) with the addition, the activation or both.
  void fuse_forward(int norm) {
    const int next = only_reader({norm, 0});
    if (next < 0) return;
    if (!activation_of(ir_[next]).empty()) {
      join(norm, {next}, {});
      return;
    }
    const IrNode& sum = ir_[next];
    if (sum.op->def->elementwise != BinaryFn::Add && !is_sum_of_two(sum)) return;
    const IrEdge side = sum.inputs[sum.inputs[0] == IrEdge{norm, 0} ? 1 : 0];
    if (ir_.shape(side) != ir_.shape({norm, 0}) || ir_.type(side) != ir_.type({norm, 0}) || depends(side.node, norm))
      return;
    const int last = only_reader({next, 0});
    if (last >= 0 && !activation_of(ir_[last]).empty() && join(norm, {next, last}, side)) return;
    join(norm, {next}, side);
  }

  // The gradient of a normalisation whose result went through an activation: dy counts where that one rose, which x
  // tells as well as y, so y need not be read again.
  void fuse_gradient(int gradient) {
    IrNode& node = ir_[gradient];
    const IrEdge slope = node.inputs[0];
    const IrNode& activation = ir_[slope.node];
    if (activation.is_feed() || activation.is_constant() || activation.types.size() != 1) return;
    const std::string_view kind = activation_of_gradient(activation);
    if (kind.empty() || only_reader(slope) != gradient || activation.device != node.device) return;
    const IrEdge y = activation.inputs[1];
    const IrNode& norm = ir_[y.node];
    const AttrValue* mode = norm.is_feed() ? nullptr : norm.attrs.find("activation_mode");
    if (y.output != 0 || !mode || std::get<std::string>(*mode) != kind || norm.inputs.size() != 5) return;
    const bool training = node.attrs.get<bool>("is_training");
    if (training != norm.attrs.get<bool>("is_training")) return;
    const IrEdge mean = training ? IrEdge{y.node, 3} : norm.inputs[3];
    const IrEdge variance = training ? IrEdge{y.node, 4} : norm.inputs[4];
    if (node.inputs[1] != norm.inputs[0] || node.inputs[2] != norm.inputs[1] || node.inputs[3] != mean ||
        node.inputs[4] != variance || node.attrs.get<float>("epsilon") != norm.attrs.get<float>("epsilon")) {
      return;
    }
    // The loop would not broadcast: behind a mean over the pixels dy is one value for all of them.
    const IrEdge dy = activation.inputs[0];
    if (ir_.shape(dy) != ir_.shape(node.inputs[1])) return;
    if (node.varies || ir_[dy.node].varies) ir_.equal_shapes.push_back({dy, node.inputs[1]});
    IrNode joined = node;
    joined.op = find_op(node.op->def->fused);
    set_types(joined);
    joined.attrs.set("activation_mode", std::string(kind));
    joined.attrs.set("num_side_inputs", int64_t{0});
    joined.inputs[0] = dy;
    joined.inputs.push_back(norm.inputs[2]);
    joined.control.insert(joined.control.end(), activation.control.begin(), activation.control.end());
    if (!has_kernel(context_, ir_, joined)) return;
    ir_[slope.node].dead = true;
    node = std::move(joined);
    note_reader(gradient);
  }

 private:
  static bool is_sum_of_two(const IrNode& node) {
    return node.op->def->elementwise.kind == ElementwiseBody::Kind::Sum && node.inputs.size() == 2;
  }

  // The single node that reads an output, and does nothing else with its node's other outputs there; -1 when there are
  // others, or fetches, or nodes that wait for the whole of it.
  int only_reader(const IrEdge& edge) const {
    if (controlled_[static_cast<size_t>(edge.node)]) return -1;
    int found = -1;
    for (int reader : readers_[static_cast<size_t>(edge.node)]) {
      if (reader < 0) {
        if (std::find(ir_.fetches.begin(), ir_.fetches.end(), edge) != ir_.fetches.end()) return -1;
        continue;
      }
      if (ir_[reader].dead || reader == found) continue;
      for (const IrEdge& input : ir_[reader].inputs) {
        if (input != edge) continue;
        if (found >= 0) return -1;
        found = reader;
      }
    }
    if (found < 0 || ir_[found].is_feed()) return -1;
    return ir_[found].device == ir_[edge.node].device ? found : -1;
  }

  bool depends(int node, int on) const {
    std::vector<int> open = {node};
    std::vector<bool> seen(ir_.nodes.size(), false);
    auto visit = [&](int id) {
      // What comes before `on` cannot depend on it.
      if (seen[static_cast<size_t>(id)] || position_[static_cast<size_t>(id)] < position_[static_cast<size_t>(on)])
        return;
      seen[static_cast<size_t>(id)] = true;
      open.push_back(id);
    };
    while (!open.empty()) {
      const int id = open.back();
      open.pop_back();
      if (id == on) return true;
      for (const IrEdge& input : ir_[id].inputs) visit(input.node);
      for (int control : ir_[id].control) visit(control);
    }
    return false;
  }

  void note_reader(int reader) {
    for (const IrEdge& input : ir_[reader].inputs) readers_[static_cast<size_t>(input.node)].push_back(reader);
  }

  static void set_types(IrNode& node) {
    node.attrs.set("T", node.types[0]);
    node.attrs.set("U", DType::Float32);
  }

  // Makes one node of the normalisation and a chain behind it: the chain's last, so that its readers need not change.
  bool join(int norm, const std::vector<int>& chain, const IrEdge& side) {
    const IrNode& first = ir_[norm];
    const int last = chain.back();
    IrNode joined = first;
    joined.op = find_op(first.op->def->fused);
    joined.origin = ir_[last].origin;
    joined.name = ir_[last].name;
    set_types(joined);
    const std::string_view activation = activation_of(ir_[last]);
    joined.attrs.set("activation_mode", std::string(activation.empty() ? "Identity" : activation));
    joined.attrs.set("num_side_inputs", int64_t{side.node >= 0 ? 1 : 0});
    if (side.node >= 0) joined.inputs.push_back(side);
    for (int id : chain) joined.control.insert(joined.control.end(), ir_[id].control.begin(), ir_[id].control.end());
    if (joined.types.size() == 5) {  // earlier versions
      joined.types.push_back(DType::Float32);
      joined.shapes.push_back(Shape{});
      joined.values.emplace_back();
      if (!joined.elements.empty()) joined.elements.emplace_back();
    }
    if (!has_kernel(context_, ir_, joined)) return false;
    // The loop would not broadcast.
    if (side.node >= 0 && (first.varies || ir_[side.node].varies)) ir_.equal_shapes.push_back({first.inputs[0], side});
    for (int i = 1; i < static_cast<int>(first.types.size()); ++i) ir_.redirect({norm, i}, {last, i});
    for (int reader : readers_[static_cast<size_t>(norm)]) readers_[static_cast<size_t>(last)].push_back(reader);
    for (int id : chain) ir_[id].dead = id != last;
    ir_[last] = std::move(joined);
    ir_[norm].dead = true;
    note_reader(last);
    return true;
  }

  Ir& ir_;
  const PassContext& context_;
  std::vector<bool> controlled_;
  std::vector<std::vector<int>> readers_;  // of a node; -1: a fetch
  std::vector<int> position_;
};

}  // namespace

void fuse_batch_norm(Ir& ir, PassContext& context) {
  Fuser fuser(ir, context);
  const std::vector<int> order = ir.topological_order();
  for (int id : order) {
    if (!ir[id].dead && takes_last(ir[id], "side_input")) fuser.fuse_forward(id);
  }
  for (int id : order) {
    if (!ir[id].dead && takes_last(ir[id], "offset")) fuser.fuse_gradient(id);
  }
}

}  // namespace weir
