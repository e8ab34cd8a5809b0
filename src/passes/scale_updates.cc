#include <algorithm>

#include "passes/place.h"

namespace weir {
namespace {

int input_named(const IrNode& node, std::string_view name) {
  for (size_t i = 0; i < node.op->inputs.size(); ++i) {
    if (node.op->inputs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The operand of a product that is a single number beside an array of the product's own shape; -1: there is none.
int scale_operand(const Ir& ir, const IrNode& node) {
  if (node.is_feed() || node.is_constant() || node.types.size() != 1 || node.types[0] != DType::Float32) return -1;
  if (node.op->def->elementwise != BinaryFn::Mul || !node.control.empty() || !node.shapes[0].is_known()) return -1;
  for (int i = 0; i < 2; ++i) {
    const Shape &scale = ir.shape(node.inputs[static_cast<size_t>(i)]),
                &array = ir.shape(node.inputs[static_cast<size_t>(1 - i)]);
    if (scale.is_known() && scale.rank() == 0 && array == node.shapes[0] && array.rank() > 0) return i;
  }
  return -1;
}

}  // namespace

// variable -= alpha * (gradient * scale), as after clipping by a global norm: the numbers are multiplied with each
// other, and the gradient, which may be as large as memory allows, is read once.
void scale_updates(Ir& ir, PassContext&) {
  const std::vector<int> uses = ir.use_counts();
  const std::vector<bool> controlled = ir.has_control_readers();
  for (int id = 0, count = ir.size(); id < count; ++id) {
    const IrNode& update = ir[id];
    if (update.dead || update.is_feed() || update.op->effect != Effect::Writes) continue;
    const int alpha = input_named(update, "alpha"), delta = input_named(update, "delta");
    if (alpha < 0 || delta < 0 || update.inputs.size() != update.op->inputs.size()) continue;
    const int product = update.inputs[static_cast<size_t>(delta)].node;
    const IrEdge rate = update.inputs[static_cast<size_t>(alpha)];
    const auto at = static_cast<size_t>(product);
    if (uses[at] != 1 || controlled[at] || ir[product].device != update.device) continue;
    const int operand = scale_operand(ir, ir[product]);
    if (operand < 0 || ir.type(rate) != DType::Float32 || ir.shape(rate).rank() != 0) continue;
    const IrEdge gradient = ir[product].inputs[static_cast<size_t>(1 - operand)];
    const IrNode& source = ir[gradient.node];
    if (!source.is_feed() && source.op->effect == Effect::Reads) continue;  // of the variable itself, perhaps
    IrNode both = ir[product];
    both.inputs = {rate, both.inputs[static_cast<size_t>(operand)]};
    both.shapes = {Shape{}};
    both.varies = ir[rate.node].varies || ir[both.inputs[1].node].varies;
    const int scaled = ir.add(std::move(both));
    ir[id].inputs[static_cast<size_t>(alpha)] = {scaled, 0};
    ir[id].inputs[static_cast<size_t>(delta)] = gradient;
    ir[product].dead = true;
  }
}

}  // namespace weir
