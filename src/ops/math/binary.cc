#include "ops/math/binary.h"

namespace weir::ops {

BinaryState prepare_binary(PrepareContext& c) {
  const Shape* shapes[] = {&c.input(0), &c.input(1)};
  BroadcastPlan plan(shapes, c.output());
  cpu::Operands operands = !plan.moves(0) ? cpu::Operands::SV : !plan.moves(1) ? cpu::Operands::VS : cpu::Operands::VV;
  return {plan, operands};
}

BinaryState prepare_binary_fn(PrepareContext& c, cpu::BinaryFn fn) {
  constexpr int64_t kShortRow = 128, kShortRest = 16;
  BinaryState state = prepare_binary(c);
  const BroadcastPlan& plan = state.plan;
  // Where an operand rests along the row, gathering it costs as much as it saves unless rows are very short.
  const int64_t shortest = state.operands == cpu::Operands::VV ? kShortRow : kShortRest;
  if (plan.elements() > plan.row() && plan.row() < shortest && c.node().type() == float32) {
    ElementwiseProgram program{.inputs = 2};
    program.outputs = {program.add(fn, 0, 1)};
    const Shape* shapes[] = {&c.input(0), &c.input(1)};
    state.tiled.emplace(program, shapes, c.output());
    c.set_scratch(state.tiled->scratch_bytes(c.threads()));
  }
  return state;
}

void set_broadcast_grads(GradContext& c, const Output& x_grad, const Output& y_grad) {
  auto [x, y] = reduce_broadcast(x_grad, c.input(0), y_grad, c.input(1));
  c.set_input_grad(0, x);
  c.set_input_grad(1, y);
}

}  // namespace weir::ops
