#include <algorithm>

#include "passes/place.h"

namespace weir {
namespace {

using Kind = ElementwiseBody::Kind;

// Gradients of sums and means repeat a small value to the size of the large one, and only then compute with it. Here
// operations that broadcast read the small one, and what is computed from small values alone is computed before they
// are repeated. And a reduction whose result gets ones in place of the dimensions that it lost keeps these at once.
class Mover {
 public:
  Mover(Ir& ir, const PassContext& context) : ir_(ir), context_(context), controlled_(ir.has_control_readers()) {}

  void run() {
    for (int id : ir_.topological_order()) {
      if (ir_[id].is_feed() || ir_[id].is_constant() || ir_[id].types.size() != 1) continue;
      if (ir_[id].op->def->alias >= 0) {
        keep_dims(id);
      } else if (ir_[id].types[0] == DType::Float32 && reads_spread(ir_[id])) {
        move(id);
      }
    }
    ir_.sweep();
  }

 private:
  // The value that `edge` repeats along dimensions of size 1, and no others.
  const IrEdge* small(const IrEdge& edge) const {
    const IrNode& node = ir_[edge.node];
    if (node.is_feed() || node.is_constant() || node.op->def->loop.kind != LoopPart::Kind::Spread) return nullptr;
    const Shape &from = ir_.shape(node.inputs[0]), &to = node.shapes[0];
    if (!from.is_known() || !to.is_known() || from.rank() > to.rank() || node.types[0] != DType::Float32)
      return nullptr;
    for (int d = 1; d <= from.rank(); ++d) {
      if (from[-d] != 1 && from[-d] != to[-d]) return nullptr;
    }
    return &node.inputs[0];
  }

  bool reads_spread(const IrNode& node) const {
    const Kind kind = node.op->def->elementwise.kind;
    if (kind != Kind::Unary && kind != Kind::Binary && kind != Kind::Sum) return false;
    return node.shapes[0].is_known() && std::any_of(node.inputs.begin(), node.inputs.end(), [&](const IrEdge& edge) {
             return small(edge) && ir_[edge.node].device == node.device;
           });
  }

  void move(int id) {
    IrNode& node = ir_[id];
    std::vector<IrEdge> inputs = node.inputs;
    IrEdge spread;
    for (IrEdge& edge : inputs) {
      if (const IrEdge* from = small(edge)) {
        if (spread.node < 0) spread = edge;
        edge = *from;
      }
    }
    Shape shape = ir_.shape(inputs[0]);
    for (const IrEdge& edge : inputs) {
      if (!ir_.shape(edge).is_known() || ir_.type(edge) != DType::Float32) return;
      shape = Shape::broadcast(shape, ir_.shape(edge));
    }
    const Kind kind = node.op->def->elementwise.kind;
    if (shape == node.shapes[0]) {
      note(node, inputs);
      if (kind == Kind::Sum) return add_one_by_one(id, std::move(inputs));
      node.inputs = std::move(inputs);
    } else if (kind != Kind::Sum && shape == ir_.shape(*small(spread)) && ir_.shape(spread) == node.shapes[0]) {
      compute_before(id, std::move(inputs), spread, shape);
    }
  }

  // With other feeds, too, what is repeated must get the shape that broadcasting gives it.
  void note(const IrNode& node, const std::vector<IrEdge>& inputs) {
    if (!node.varies) return;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == node.inputs[i]) continue;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] == node.inputs[k] && ir_.shape(inputs[k]) == node.shapes[0]) {
          ir_.equal_shapes.push_back({node.inputs[i], inputs[k]});
        }
      }
    }
  }

  // A sum of values of one shape does not broadcast; additions do, in the same order.
  void add_one_by_one(int id, std::vector<IrEdge> inputs) {
    const IrNode node = ir_[id];
    IrEdge sum = inputs[0];
    for (size_t i = 1; i < inputs.size(); ++i) {
      IrNode add;
      add.op = find_op("AddV2");
      add.origin = node.origin;
      add.name = node.name;
      add.device = node.device;
      add.attrs.set("T", DType::Float32);
      add.inputs = {sum, inputs[i]};
      add.types = {DType::Float32};
      add.shapes = {Shape::broadcast(ir_.shape(sum), ir_.shape(inputs[i]))};
      add.varies = node.varies;
      if (i + 1 == inputs.size()) {
        add.control = node.control;
        add.values.resize(1);
        ir_[id] = std::move(add);
      } else {
        sum = {ir_.add(std::move(add)), 0};
      }
    }
  }

  // f(repeat(x)) becomes repeat(f(x)).
  void compute_before(int id, std::vector<IrEdge> inputs, const IrEdge& spread, const Shape& shape) {
    IrNode before = ir_[id];
    before.inputs = std::move(inputs);
    before.shapes = {shape};
    before.control.clear();
    IrNode after = ir_[spread.node];
    after.origin = ir_[id].origin;
    after.name = ir_[id].name;
    after.control = ir_[id].control;
    after.varies = ir_[id].varies || after.varies;
    after.inputs[0] = {ir_.add(std::move(before)), 0};
    ir_[id] = std::move(after);
  }

  void keep_dims(int id) {
    const IrNode& view = ir_[id];
    const IrEdge from = view.inputs[static_cast<size_t>(view.op->def->alias)];
    IrNode& reduction = ir_[from.node];
    if (reduction.is_feed() || reduction.is_constant() || !view.control.empty()) return;
    if (controlled_[static_cast<size_t>(id)]) return;  // others wait for the view itself
    if (reduction.op->def->loop.kind != LoopPart::Kind::Reduce || !is_fixed_view(ir_, view)) return;
    if (reduction.attrs.get<bool>("keep_dims") || reduction.types[0] != view.types[0]) return;
    if (uses_.size() != ir_.nodes.size()) uses_ = ir_.use_counts();
    if (uses_[static_cast<size_t>(from.node)] != 1 || !view.shapes[0].is_known()) return;
    IrNode kept = reduction;
    kept.attrs.set("keep_dims", true);
    InputFacts facts;
    for (const IrEdge& input : kept.inputs) {
      facts.shapes.push_back(&ir_.shape(input));
      facts.values.push_back(&ir_[input.node].values[static_cast<size_t>(input.output)]);
    }
    kept.shapes = infer_outputs(ir_, kept, facts).shapes;
    if (kept.shapes[0] != view.shapes[0] || !has_kernel(context_, ir_, kept)) return;
    // The view is kept for its shape: the reduction that it reads there is the one before.
    kept.name = view.name;
    kept.origin = view.origin;
    const bool varies = view.varies;
    const int made = ir_.add(std::move(kept));
    uses_.push_back(uses_[static_cast<size_t>(id)]);
    ir_.redirect({id, 0}, {made, 0});
    if (varies) ir_.equal_shapes.push_back({{id, 0}, {made, 0}});
    ir_[id].dead = true;
  }

  Ir& ir_;
  const PassContext& context_;
  std::vector<bool> controlled_;
  std::vector<int> uses_;
};

}  // namespace

void spread_late(Ir& ir, PassContext& context) { Mover(ir, context).run(); }

}  // namespace weir
