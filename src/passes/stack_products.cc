#include <algorithm>
#include <map>

#include "passes/place.h"

namespace weir {
namespace {

// A sum of products a^T b, such as the gradient of weights that every step of an unrolled loop uses, is one product of
// all a and all b, one behind the other: each product would write a matrix as large as the weights for the sum to read.
class Stacker {
 public:
  Stacker(Ir& ir, const PassContext& context)
      : ir_(ir), context_(context), uses_(ir.use_counts()), controlled_(ir.has_control_readers()) {}

  void run() {
    for (int id = 0, count = ir_.size(); id < count; ++id) {
      const IrNode& sum = ir_[id];
      if (sum.dead || sum.is_feed() || sum.is_constant() || sum.types.size() != 1) continue;
      if (sum.op->def->elementwise.kind == ElementwiseBody::Kind::Sum) stack(id);
    }
  }

 private:
  // A product that nobody else reads, whose factors are smaller together than what it gives.
  bool is_worth_stacking(const IrNode& sum, const IrEdge& edge) const {
    const IrNode& product = ir_[edge.node];
    const auto at = static_cast<size_t>(edge.node);
    if (product.is_feed() || product.is_constant() || !product.control.empty() || product.device != sum.device) {
      return false;
    }
    if (!product.op->def->sums_by_stacking || !product.op->def->sums_by_stacking(product.attrs)) return false;
    if (uses_[at] != 1 || controlled_[at]) return false;
    const Shape &a = ir_.shape(product.inputs[0]), &b = ir_.shape(product.inputs[1]);
    return a.is_known() && b.is_known() && product.shapes[0].is_known() &&
           a.elements() + b.elements() <= product.shapes[0].elements();
  }

  void stack(int id) {
    std::vector<IrEdge> products, others;
    for (const IrEdge& edge : ir_[id].inputs) {
      const bool fits = is_worth_stacking(ir_[id], edge) && (products.empty() || alike(products[0], edge));
      (fits ? products : others).push_back(edge);
    }
    if (products.size() < 2) return;
    IrNode product = ir_[products[0].node];
    product.origin = ir_[id].origin;
    product.name = ir_[id].name;
    for (size_t side = 0; side < 2; ++side) {
      std::vector<IrEdge> factors;
      for (const IrEdge& edge : products) factors.push_back(ir_[edge.node].inputs[side]);
      const int stacked = concatenation(product, std::move(factors));
      if (stacked < 0) return;
      product.inputs[side] = {stacked, 0};
    }
    for (const IrEdge& edge : products) product.varies = product.varies || ir_[edge.node].varies;
    for (const IrEdge& edge : products) ir_[edge.node].dead = true;
    if (others.empty()) {
      product.control = ir_[id].control;
      ir_[id] = std::move(product);
      return;
    }
    others.push_back({ir_.add(std::move(product)), 0});
    IrNode& sum = ir_[id];
    sum.attrs.set("N", static_cast<int64_t>(others.size()));
    sum.inputs = std::move(others);
  }

  // Products that the program wants on different devices would be computed apart if these were there. They are on one,
  // too, so that the towers of a model train the same wherever they stand.
  bool alike(const IrEdge& first, const IrEdge& second) const {
    const IrNode &a = ir_[first.node], &b = ir_[second.node];
    return a.op == b.op && ir_.type(first) == ir_.type(second) && a.origin->device == b.origin->device;
  }

  // Values one behind the other along the first dimension; -1 when the device cannot.
  int concatenation(const IrNode& reader, std::vector<IrEdge> values) {
    if (auto known = made_.find(values); known != made_.end()) return known->second;
    const DType type = ir_.type(values[0]);
    IrNode node = beside(reader, "ConcatV2", type);
    node.attrs.set("N", static_cast<int64_t>(values.size()));
    node.attrs.set("T", type);
    node.attrs.set("Tidx", DType::Int32);
    Shape shape = ir_.shape(values[0]);
    int64_t rows = 0;
    for (const IrEdge& value : values) {
      rows += ir_.shape(value)[0];
      node.varies = node.varies || ir_[value.node].varies;
    }
    shape.set_dim(0, rows);
    node.shapes = {shape};
    node.inputs = values;
    node.inputs.push_back(axis(reader));
    if (!has_kernel(context_, ir_, node)) return -1;
    return made_[std::move(values)] = ir_.add(std::move(node));
  }

  IrEdge axis(const IrNode& reader) {
    IrNode node = beside(reader, "Const", DType::Int32);
    node.values = {Tensor(int32_t{0})};
    node.attrs.set("value", node.values[0]);
    node.attrs.set("dtype", DType::Int32);
    node.shapes = {Shape{}};
    return {ir_.add(std::move(node)), 0};
  }

  static IrNode beside(const IrNode& other, std::string_view op, DType type) {
    IrNode node;
    node.op = find_op(op);
    node.origin = other.origin;
    node.name = other.name;
    node.device = other.device;
    node.types = {type};
    node.values.resize(1);
    return node;
  }

  Ir& ir_;
  const PassContext& context_;
  const std::vector<int> uses_;
  const std::vector<bool> controlled_;
  std::map<std::vector<IrEdge>, int> made_;  // concatenations
};

}  // namespace

void stack_products(Ir& ir, PassContext& context) { Stacker(ir, context).run(); }

}  // namespace weir
