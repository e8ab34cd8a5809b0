#include "passes/spell_out.h"

#include "ops/nn/formula.h"
#include "passes/place.h"

namespace weir {
namespace {

class Speller {
 public:
  Speller(Ir& ir, const PassContext& context) : ir_(ir), context_(context) {}

  void run() {
    for (int id = 0, count = ir_.size(); id < count; ++id) {
      const IrNode& node = ir_[id];
      if (node.dead || node.is_feed() || node.is_constant() || node.types.size() != 1) continue;
      if (node.types[0] != DType::Float32 || !node.shapes[0].is_known()) continue;
      switch (formula_of(*node.op)) {
        case Formula::LeakyRelu:
          spell_leaky_relu(id);
          break;
        case Formula::LeakyReluGrad:
          spell_leaky_relu_grad(id);
          break;
        case Formula::Other:
          break;
      }
    }
  }

 private:
  // The larger of x and alpha x is x where x is positive.
  void spell_leaky_relu(int id) {
    const float alpha = ir_[id].attrs.get<float>("alpha");
    if (!(alpha > 0 && alpha <= 1)) return;
    const IrEdge x = ir_[id].inputs[0];
    const IrNode scaled = made(id, "Mul", {x, number(id, alpha)}), larger = made(id, "Maximum", {x, x});
    if (!has_kernel(context_, ir_, scaled) || !has_kernel(context_, ir_, larger)) return;
    const int leak = ir_.add(scaled);
    put(id, larger, {x, {leak, 0}});
  }

  // dy where x is positive, and alpha dy elsewhere.
  void spell_leaky_relu_grad(int id) {
    const IrEdge dy = ir_[id].inputs[0], x = ir_[id].inputs[1];
    const IrNode scaled = made(id, "Mul", {dy, number(id, ir_[id].attrs.get<float>("alpha"))});
    IrNode positive = made(id, "Greater", {x, number(id, 0)});
    positive.types = {DType::Bool};
    const IrNode chosen = made(id, "Select", {x, dy, dy});
    if (!has_kernel(context_, ir_, scaled) || !has_kernel(context_, ir_, positive)) return;
    const int leak = ir_.add(scaled), condition = ir_.add(positive);
    put(id, chosen, {{condition, 0}, dy, {leak, 0}});
  }

  IrNode made(int id, std::string_view op, std::vector<IrEdge> inputs) const {
    const IrNode& node = ir_[id];
    IrNode made;
    made.op = find_op(op);
    made.origin = node.origin;
    made.name = node.name;
    made.device = node.device;
    made.attrs.set("T", DType::Float32);
    made.inputs = std::move(inputs);
    made.types = {DType::Float32};
    made.shapes = node.shapes;
    made.values.resize(1);
    made.varies = node.varies;
    return made;
  }

  // Takes the place of a node, with what it waits for.
  void put(int id, IrNode node, std::vector<IrEdge> inputs) {
    node.inputs = std::move(inputs);
    node.control = ir_[id].control;
    ir_[id] = std::move(node);
  }

  IrEdge number(int id, float value) {
    IrNode node = made(id, "Const", {});
    node.attrs = {};
    node.attrs.set("value", Tensor(value));
    node.attrs.set("dtype", DType::Float32);
    node.shapes = {Shape{}};
    node.values = {Tensor(value)};
    node.varies = false;
    return {ir_.add(std::move(node)), 0};
  }

  Ir& ir_;
  const PassContext& context_;
};

}  // namespace

void spell_out(Ir& ir, PassContext& context) { Speller(ir, context).run(); }

}  // namespace weir
