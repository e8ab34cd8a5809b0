#include <algorithm>

#include "passes/place.h"

namespace weir {
namespace {

bool channels_last(const IrNode& node) {
  const AttrValue* format = node.attrs.find("data_format");
  return !format || std::get<std::string>(*format) == "NHWC";
}

// Adds a vector along the last dimension of `value`: the index of the bias input, or -1.
int bias_input(const Ir& ir, const IrNode& node, int value) {
  if (node.op->role == Role::BiasAdd) return channels_last(node) && node.inputs[0].node == value ? 1 : -1;
  if (node.op->def->elementwise != BinaryFn::Add) return -1;
  int other = node.inputs[0].node == value ? 1 : 0;
  if (node.inputs[static_cast<size_t>(1 - other)].node != value) return -1;
  const Shape& bias = ir.shape(node.inputs[static_cast<size_t>(other)]);
  const Shape& whole = ir.shape({value, 0});
  bool fits = bias.rank() == 1 && whole.is_known() && whole.rank() > 1 && bias[0] == whole[-1] && bias[0] > 1;
  return fits ? other : -1;
}

bool is_activation(const IrNode& node) {
  const ElementwiseBody& body = node.op->def->elementwise;
  return body == UnaryFn::Relu || body == UnaryFn::Relu6;
}

class Fuser {
 public:
  Fuser(Ir& ir, const PassContext& context)
      : ir_(ir), context_(context), uses_(ir.use_counts()), controlled_(ir.has_control_readers()) {
    reader_.assign(ir.nodes.size(), -1);
    for (int i = 0; i < ir.size(); ++i) {
      if (ir[i].dead) continue;
      for (const IrEdge& input : ir[i].inputs) reader_[static_cast<size_t>(input.node)] = i;
    }
    for (const IrEdge& fetch : ir.fetches) reader_[static_cast<size_t>(fetch.node)] = -1;
  }

  // With the activation where there is one and the device has a kernel for it, or else with the bias alone.
  void fuse(int id, std::string_view fused_name) {
    int bias_add = only_reader(id);
    if (bias_add < 0) return;
    if (ir_[bias_add].op->def->alias >= 0) return fuse_before_view(id, bias_add, fused_name);
    int bias = bias_input(ir_, ir_[bias_add], id);
    if (bias < 0) return;
    IrEdge bias_edge = ir_[bias_add].inputs[static_cast<size_t>(bias)];
    int next = only_reader(bias_add);
    if (next >= 0 && is_activation(ir_[next]) && join({id, bias_add, next}, bias_edge, fused_name)) return;
    join({id, bias_add}, bias_edge, fused_name);
  }

 private:
  // The same where a view that keeps the last dimension comes between, as in products of tensors of higher rank: bias
  // and activation move in front of it.
  void fuse_before_view(int id, int view, std::string_view fused_name) {
    const Shape &from = ir_.shape({id, 0}), &to = ir_[view].shapes[0];
    if (!from.is_known() || !to.is_known() || to.rank() < 2 || from[-1] != to[-1] || !ir_[view].op->pure()) return;
    if (ir_[view].inputs[static_cast<size_t>(ir_[view].op->def->alias)] != IrEdge{id, 0}) return;
    if (!is_fixed_view(ir_, ir_[view]) || !ir_[view].control.empty()) return;
    const int bias_add = only_reader(view);
    if (bias_add < 0) return;
    const int bias = bias_input(ir_, ir_[bias_add], view);
    if (bias < 0 || ir_.shape({bias_add, 0}) != to) return;
    const IrEdge bias_edge = ir_[bias_add].inputs[static_cast<size_t>(bias)];
    const int next = only_reader(bias_add);
    const bool activates = next >= 0 && is_activation(ir_[next]);
    if (activates && join_before(id, view, {bias_add, next}, bias_edge, fused_name)) return;
    join_before(id, view, {bias_add}, bias_edge, fused_name);
  }

  bool join_before(int id, int view, const std::vector<int>& chain, const IrEdge& bias, std::string_view fused_name) {
    const int last = chain.back();
    if (controlled_[static_cast<size_t>(last)] || comes_after(bias.node, id)) return false;
    for (int member : chain) {
      for (int before : ir_[member].control) {
        if (comes_after(before, id)) return false;
      }
    }
    IrNode joined = ir_[id];
    joined.op = find_op(fused_name);
    joined.attrs.set("num_args", int64_t{1});
    std::vector<std::string> fused = {"BiasAdd"};
    if (chain.size() > 1) fused.push_back(ir_[chain[1]].op->name);
    joined.attrs.set("fused_ops", std::move(fused));
    joined.inputs.push_back(bias);
    for (int member : chain) {
      joined.control.insert(joined.control.end(), ir_[member].control.begin(), ir_[member].control.end());
    }
    joined.name = ir_[last].name;
    joined.origin = ir_[last].origin;
    if (!has_kernel(context_, ir_, joined)) return false;
    // Under other shapes, too, the view must keep the last dimension, and bias and sum their shapes.
    if (ir_[last].varies) ir_.equal_shapes.push_back({{view, 0}, {last, 0}});
    ir_[id] = std::move(joined);
    for (int member : chain) ir_[member].dead = true;
    ir_.redirect({last, 0}, {view, 0});
    uses_[static_cast<size_t>(view)] = uses_[static_cast<size_t>(last)];
    reader_[static_cast<size_t>(view)] = reader_[static_cast<size_t>(last)];
    return true;
  }

  // Whether `node` needs `other`.
  bool comes_after(int node, int other) const {
    std::vector<int> open = {node};
    std::vector<bool> seen(ir_.nodes.size(), false);
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (at == other) return true;
      if (seen[static_cast<size_t>(at)]) continue;
      seen[static_cast<size_t>(at)] = true;
      for (const IrEdge& input : ir_[at].inputs) open.push_back(input.node);
      open.insert(open.end(), ir_[at].control.begin(), ir_[at].control.end());
    }
    return false;
  }

  // Makes one node of a chain: its last, so that readers need not change. False: the device has no kernel for it.
  bool join(const std::vector<int>& chain, const IrEdge& bias, std::string_view fused_name) {
    const IrNode& first = ir_[chain.front()];
    IrNode& last = ir_[chain.back()];
    IrNode joined = last;
    joined.op = find_op(fused_name);
    joined.attrs = first.attrs;
    joined.attrs.set("num_args", int64_t{1});
    std::vector<std::string> fused = {"BiasAdd"};
    if (chain.size() > 2) fused.push_back(last.op->name);
    joined.attrs.set("fused_ops", std::move(fused));
    joined.inputs = {first.inputs[0], first.inputs[1], bias};
    joined.control.clear();
    for (int id : chain) joined.control.insert(joined.control.end(), ir_[id].control.begin(), ir_[id].control.end());
    if (!has_kernel(context_, ir_, joined)) return false;
    last = std::move(joined);
    for (size_t i = 0; i + 1 < chain.size(); ++i) ir_[chain[i]].dead = true;
    return true;
  }

  // The single node that reads `id`; -1 when there are others, or fetches, or nodes that wait for it, or when it stands
  // on another device.
  int only_reader(int id) const {
    auto at = static_cast<size_t>(id);
    if (uses_[at] != 1 || controlled_[at] || ir_[id].types.size() != 1) return -1;
    const int reader = reader_[at];
    return reader >= 0 && ir_[reader].device == ir_[id].device ? reader : -1;
  }

  Ir& ir_;
  const PassContext& context_;
  std::vector<int> uses_;
  std::vector<bool> controlled_;
  std::vector<int> reader_;
};

bool is_float(const IrNode& node) { return node.types.size() == 1 && node.types[0] == DType::Float32; }

}  // namespace

void fuse_bias_activation(Ir& ir, PassContext& context) {
  Fuser fuser(ir, context);
  for (int id : ir.topological_order()) {
    const IrNode& node = ir[id];
    if (node.dead || node.is_feed() || node.is_constant() || !is_float(node)) continue;
    if (!node.op->def->fused.empty() && channels_last(node)) fuser.fuse(id, node.op->def->fused);
  }
}

}  // namespace weir
