#include <algorithm>
#include <map>

#include "passes/place.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// Products with few rows read more than they compute: each iteration would read a large matrix by its columns, or
// transpose one of any size, again. With many rows that is a small part of the work.
constexpr int64_t kMostRows = 64;
constexpr int64_t kLeastBytes = 512 << 10, kLeastTransposedBytes = 32 << 10;

class Hoister {
 public:
  Hoister(Ir& ir, const PassContext& context) : ir_(ir), context_(context) {}

  void run() {
    if (!is_alone()) return;
    kept_.assign(ir_.nodes.size(), false);
    for (const IrEdge& fetch : ir_.fetches) kept_[static_cast<size_t>(fetch.node)] = true;
    for (const IrNode& node : ir_.nodes) {
      if (node.dead || node.is_feed() || node.op->def->alias < 0) continue;
      for (const IrEdge& input : node.inputs) kept_[static_cast<size_t>(input.node)] = true;
    }
    const std::vector<int> order = ir_.topological_order();
    for (int id : order) pack(id);
    for (int id : ir_.topological_order()) {
      IrNode& node = ir_[id];
      node.invariant = node.is_feed() ? node.invariant : can_be_hoisted(id);
    }
  }

 private:
  // Whether the plan is one part of one stretch, in the host's memory: only that has a first part of its own.
  bool is_alone() const {
    bool feeds = false;
    int device = -1;
    for (const IrNode& node : ir_.nodes) {
      if (node.dead) continue;
      feeds = feeds || (node.is_feed() && node.invariant);
      if (node.waits() || (device >= 0 && node.device != device)) return false;
      device = node.device;
    }
    return feeds && (!context_.devices || !(*context_.devices)[device].memory());
  }

  bool is_invariant(const IrEdge& edge) const {
    const IrNode& node = ir_[edge.node];
    return node.invariant || node.values[static_cast<size_t>(edge.output)].valid();
  }

  // What it gives must lie in the plan's arena, where it stays from one iteration to the next: no views of other
  // values, and nothing that leaves the body.
  bool can_be_hoisted(int id) const {
    const IrNode& node = ir_[id];
    if (node.is_constant() || node.types.empty() || node.inputs.empty() || kept_at(id)) return false;
    if (!node.op->pure() || node.flow || !node.control.empty()) return false;
    if (node.op->def->alias >= 0 || node.op->def->cpu.gives_outputs || node.op->role == Role::Placeholder) return false;
    for (size_t o = 0; o < node.types.size(); ++o) {
      if (!is_plain(node.types[o]) || !node.shapes[o].is_known()) return false;
    }
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const IrEdge& input) {
      return is_invariant(input) && ir_.type(input) != DType::Resource && ir_.shape(input).is_known();
    });
  }
  bool kept_at(int id) const { return static_cast<size_t>(id) < kept_.size() && kept_[static_cast<size_t>(id)]; }

  void pack(int id) {
    if (ir_[id].is_feed() || ir_[id].is_constant() || ir_[id].op->def->packs.empty()) return;
    const IrEdge matrix = ir_[id].inputs[1];
    if (!ir_[matrix.node].is_feed() || !ir_[matrix.node].invariant || ir_.type(matrix) != DType::Float32) return;
    const Shape &shape = ir_.shape(matrix), &result = ir_[id].shapes[0];
    if (!shape.is_known() || !result.is_known() || result[0] > kMostRows || result[0] == 0) return;
    const bool transpose = ir_[id].attrs.get<bool>("transpose_b");
    const int64_t bytes = shape.elements() * static_cast<int64_t>(sizeof(float));
    if (bytes < (transpose ? kLeastTransposedBytes : kLeastBytes)) return;

    IrNode product = ir_[id];
    if (!product.op->def->fused.empty()) {
      product.op = find_op(product.op->def->fused);
      product.attrs.set("num_args", int64_t{0});
      product.attrs.set("fused_ops", std::vector<std::string>());
    }
    product.attrs.set("packed_columns", result[1]);
    if (!has_kernel(context_, ir_, product)) return;
    const int packed = packed_matrix(product, matrix, transpose);
    if (packed < 0) return;
    product.inputs[1] = {packed, 0};
    ir_[id] = std::move(product);
  }

  // The node that packs a matrix; -1 when the device cannot.
  int packed_matrix(const IrNode& product, const IrEdge& matrix, bool transpose) {
    auto [known, fresh] = packed_.try_emplace({matrix, transpose}, -1);
    if (!fresh) return known->second;
    IrNode node;
    node.op = find_op(product.op->def->packs);
    node.origin = product.origin;
    node.name = product.name + "/_pack";
    node.attrs.set("transpose", transpose);
    node.attrs.set("T", DType::Float32);
    node.inputs = {matrix};
    node.types = {DType::Float32};
    node.device = product.device;
    if (!has_kernel(context_, ir_, node)) return -1;
    const Tensor unknown;
    node.shapes = infer_outputs(ir_, node, {.shapes = {&ir_.shape(matrix)}, .values = {&unknown}}).shapes;
    known->second = ir_.add(std::move(node));
    return known->second;
  }

  Ir& ir_;
  const PassContext& context_;
  std::vector<bool> kept_;  // what leaves the body, or has views
  std::map<std::pair<IrEdge, bool>, int> packed_;
};

}  // namespace

void hoist_invariants(Ir& ir, PassContext& context) { Hoister(ir, context).run(); }

}  // namespace weir
