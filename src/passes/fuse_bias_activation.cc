#include <algorithm>

#include "passes/place.h"

namespace weir {
namespace {

bool channels_last(const IrNode& node) {
  const AttrValue* format = node.attrs.find("data_format");
  return !format || std::get<std::string>(*format) == "NHWC";
}

// Whether a value has one element for each channel, the last dimension of `whole`.
bool is_channel_vector(const Shape& vector, const Shape& whole) {
  if (!vector.is_known() || whole.rank() < 2 || vector.rank() < 1) return false;
  return vector.rank() <= whole.rank() && vector[-1] == whole[-1] && vector.elements() == whole[-1] && whole[-1] > 1;
}

// The operand of a binary operation that is not `value`; -1 when both are, or none.
int other_operand(const IrNode& node, int value) {
  const bool first = node.inputs[0] == IrEdge{value, 0}, second = node.inputs[1] == IrEdge{value, 0};
  return first == second ? -1 : first ? 1 : 0;
}

// Adds a vector along the last dimension of `value`: the index of the bias input, or -1.
int bias_input(const Ir& ir, const IrNode& node, int value) {
  if (node.op->role == Role::BiasAdd) return channels_last(node) && node.inputs[0] == IrEdge{value, 0} ? 1 : -1;
  if (node.op->def->elementwise != BinaryFn::Add) return -1;
  const int other = other_operand(node, value);
  return other >= 0 && is_channel_vector(ir.shape(node.inputs[static_cast<size_t>(other)]), ir.shape({value, 0}))
             ? other
             : -1;
}

// Multiplies with one.
int scale_input(const Ir& ir, const IrNode& node, int value) {
  if (node.op->def->elementwise != BinaryFn::Mul) return -1;
  const int other = other_operand(node, value);
  return other >= 0 && is_channel_vector(ir.shape(node.inputs[static_cast<size_t>(other)]), ir.shape({value, 0}))
             ? other
             : -1;
}

// Adds a value of the same shape.
int side_input(const Ir& ir, const IrNode& node, int value) {
  const ElementwiseBody& body = node.op->def->elementwise;
  if (body != BinaryFn::Add && (body.kind != ElementwiseBody::Kind::Sum || node.inputs.size() != 2)) return -1;
  const int other = other_operand(node, value);
  if (other < 0 || !ir.shape({value, 0}).is_known()) return -1;
  return ir.shape(node.inputs[static_cast<size_t>(other)]) == ir.shape({value, 0}) ? other : -1;
}

// Normalises the channels of `value` by means and variances that are given.
bool is_inference_norm(const IrNode& node, int value) {
  if (node.inputs.size() != 5 || node.inputs[0] != IrEdge{value, 0} || node.types.size() < 5) return false;
  const AttrValue* training = node.attrs.find("is_training");
  return training && !std::get<bool>(*training) && node.types[0] == DType::Float32;
}

// A convolution whose filter is for fewer channels than the image has is one of groups of them.
bool has_groups(const Ir& ir, const IrNode& node) {
  if (!node.op->def->winograd) return false;
  const Shape &image = ir.shape(node.inputs[0]), &filter = ir.shape(node.inputs[1]);
  return image.rank() == 4 && filter.rank() == 4 && image[channels_last(node) ? 3 : 1] != filter[2];
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

  // With as much of what follows as the fused operation and the device have.
  void fuse(int id, std::string_view fused_name) {
    const int next = only_reader(id);
    if (next < 0) return;
    if (ir_[next].op->def->alias >= 0) return fuse_before_view(id, next, fused_name);
    for (std::vector<Link> chain = find_chain(id); !chain.empty(); chain.pop_back()) {
      if (join(id, chain, fused_name)) return;
    }
  }

 private:
  // One of the operations behind a product: its name in fused_ops, and what it reads beside the result so far.
  struct Link {
    int node;
    std::string name;
    std::vector<IrEdge> args = {};
  };

  // They come in the order of ops/nn/epilogue.h, each at most once.
  std::vector<Link> find_chain(int id) const {
    std::vector<Link> chain;
    int at = id, next = only_reader(id);
    auto add = [&](std::string name, std::vector<IrEdge> args) {
      chain.push_back({next, std::move(name), std::move(args)});
      at = next;
      next = only_reader(at);
    };
    auto arg = [&](int index) { return std::vector<IrEdge>{ir_[next].inputs[static_cast<size_t>(index)]}; };
    if (next >= 0 && ir_[id].shapes[0].rank() == 4 && is_inference_norm(ir_[next], at) &&
        channels_last(ir_[next]) == channels_last(ir_[id])) {
      const std::vector<IrEdge>& inputs = ir_[next].inputs;
      add("FusedBatchNorm", {inputs.begin() + 1, inputs.end()});
    } else if (channels_last(ir_[id])) {
      if (const int i = next >= 0 ? scale_input(ir_, ir_[next], at) : -1; i >= 0) add("Mul", arg(i));
      if (const int i = next >= 0 ? bias_input(ir_, ir_[next], at) : -1; i >= 0) add("BiasAdd", arg(i));
    } else if (next >= 0 && ir_[next].op->role == Role::BiasAdd && !channels_last(ir_[next])) {
      add("BiasAdd", arg(1));
    }
    if (channels_last(ir_[id])) {
      const int i = next >= 0 ? side_input(ir_, ir_[next], at) : -1;
      if (i >= 0 && !comes_after(arg(i)[0].node, id)) add("Add", arg(i));
    }
    if (next >= 0 && is_activation(ir_[next])) add(ir_[next].op->name, {});
    return chain;
  }

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

  // Makes one node of a product and a chain: its last, so that readers need not change. False: the device has no kernel
  // for it.
  bool join(int id, const std::vector<Link>& chain, std::string_view fused_name) {
    const IrNode& first = ir_[id];
    IrNode& last = ir_[chain.back().node];
    IrNode joined = last;
    joined.op = find_op(fused_name);
    joined.attrs = first.attrs;
    joined.inputs = first.inputs;
    joined.types = first.types;
    joined.shapes = {last.shapes[0]};
    joined.values.assign(1, Tensor());
    joined.elements.clear();
    joined.control = first.control;
    std::vector<std::string> fused;
    for (const Link& link : chain) {
      const IrNode& node = ir_[link.node];
      fused.push_back(link.name);
      joined.inputs.insert(joined.inputs.end(), link.args.begin(), link.args.end());
      joined.control.insert(joined.control.end(), node.control.begin(), node.control.end());
      if (const AttrValue* epsilon = node.attrs.find("epsilon")) joined.attrs.set("epsilon", *epsilon);
    }
    joined.attrs.set("num_args", static_cast<int64_t>(joined.inputs.size() - first.inputs.size()));
    joined.attrs.set("fused_ops", std::move(fused));
    if (!has_kernel(context_, ir_, joined)) return false;
    last = std::move(joined);
    ir_[id].dead = true;
    for (const Link& link : chain) {
      ir_[link.node].dead = link.node != chain.back().node;
      for (const IrEdge& read : link.args) {
        int& reader = reader_[static_cast<size_t>(read.node)];
        if (reader == link.node) reader = chain.back().node;
      }
    }
    return true;
  }

  // The single node that reads `id`, its first output; -1 when there are others, or fetches, or nodes that wait for it,
  // or when it stands on another device.
  int only_reader(int id) const {
    auto at = static_cast<size_t>(id);
    if (uses_[at] != 1 || controlled_[at]) return -1;
    const int reader = reader_[at];
    if (reader < 0 || ir_[reader].device != ir_[id].device) return -1;
    const std::vector<IrEdge>& inputs = ir_[reader].inputs;
    return std::find(inputs.begin(), inputs.end(), IrEdge{id, 0}) != inputs.end() ? reader : -1;
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
    if (!node.op->def->fused.empty() && !has_groups(ir, node)) fuser.fuse(id, node.op->def->fused);
  }
}

}  // namespace weir
