#include "ops/control/dataflow.h"

#include <algorithm>
#include <optional>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct KindRow {
  ComputeFn (*select)(const NodeView&);
  DataflowKind kind;
};
constexpr KindRow kKinds[] = {{no_kernel<DataflowKind::Switch>, DataflowKind::Switch},
                              {no_kernel<DataflowKind::Merge>, DataflowKind::Merge},
                              {no_kernel<DataflowKind::Enter>, DataflowKind::Enter},
                              {no_kernel<DataflowKind::Exit>, DataflowKind::Exit},
                              {no_kernel<DataflowKind::NextIteration>, DataflowKind::NextIteration},
                              {no_kernel<DataflowKind::LoopCond>, DataflowKind::LoopCond},
                              {no_kernel<DataflowKind::Trigger>, DataflowKind::Trigger},
                              {no_kernel<DataflowKind::Send>, DataflowKind::Send},
                              {no_kernel<DataflowKind::Receive>, DataflowKind::Receive}};

void infer_switch(InferContext& c) {
  c.require_scalar(1);
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
}

// Of the inputs of a loop's Merge the second comes later and may have another shape; what is said here must hold for it
// too.
void infer_merge(InferContext& c) {
  Shape common = c.inputs() > 0 ? c.input(0) : Shape::unknown();
  for (int i = 1; i < c.inputs(); ++i) {
    const Shape& other = c.input(i);
    if (!common.has_rank() || !other.has_rank() || common.rank() != other.rank()) {
      common = Shape::unknown();
      break;
    }
    Shape sizes;
    for (int d = 0; d < common.rank(); ++d) sizes.append(common[d] == other[d] ? common[d] : kUnknown);
    common = sizes;
  }
  c.set_output(0, common);
  c.set_output(1, Shape{});
}

Output switched(const Output& value, const Output& pred, int side) {
  return NodeBuilder("Switch").input(value).input(pred).output(side);
}

// What came back from the side that ran. The gradient of the other side is not computed.
void switch_gradient(GradContext& c) {
  if (c.input(0).is_ref()) return;
  std::vector<In> sides;
  for (int side = 0; side < 2; ++side) sides.emplace_back(switched(c.output_grad(side), c.input(1), side));
  c.set_input_grad(0, NodeBuilder("Merge").input(InList(sides)).output());
}

// The gradient goes to the input that was given on.
void merge_gradient(GradContext& c) {
  if (!c.has_output_grad(0)) return;
  for (int i = 0; i < c.inputs(); ++i) {
    const Output chosen = NodeBuilder("Equal").input(c.output(1)).input(In(i)).output();
    c.set_input_grad(i, switched(c.output_grad(0), chosen, 1));
  }
}

[[noreturn]] void loop_gradient(GradContext&) {
  throw error(
      Code::Unimplemented,
      "a loop that is made of Enter, Merge, Switch, NextIteration and Exit by hand has no gradient; use tf.while_loop");
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view outputs, std::string_view attrs) {
  OpDef def{.name = name, .inputs = inputs, .outputs = outputs, .attrs = attrs};
  // Nothing is worked out ahead or shared: whether it runs is not known.
  def.effect = inputs.find("Ref(") == std::string_view::npos ? Effect::Checks : Effect::None;
  return def;
}

OpDef switch_row(std::string_view name, std::string_view inputs, std::string_view outputs, std::string_view flags) {
  OpDef def = row(name, inputs, outputs, "T:type");
  def.flags = flags;
  def.host = "pred";
  def.infer = infer_switch;
  def.gradient = switch_gradient;
  def.cpu.select = no_kernel<DataflowKind::Switch>;
  return def;
}

OpDef merge_row(std::string_view name, std::string_view inputs, std::string_view outputs) {
  OpDef def = row(name, inputs, outputs, "T:type; N:int>=1");
  def.host = "value_index";
  def.infer = infer_merge;
  def.gradient = merge_gradient;
  def.cpu.select = no_kernel<DataflowKind::Merge>;
  return def;
}

template <DataflowKind kKind>
OpDef passing_row(std::string_view name, bool is_ref, std::string_view attrs) {
  OpDef def = row(name, is_ref ? "data:Ref(T)" : "data:T", is_ref ? "output:Ref(T)" : "output:T", attrs);
  def.infer = infer::unchanged;
  def.gradient = loop_gradient;
  def.cpu.select = no_kernel<kKind>;
  return def;
}

constexpr std::string_view kEnterAttrs =
    "T:type; frame_name:string; is_constant:bool=False; parallel_iterations:int=10";

void infer_select(InferContext& c) {
  c.require_scalar(0);
  bool same = true;
  for (int i = 2; i < c.inputs(); ++i) same = same && c.input(i) == c.input(1);
  if (same) c.set_output(0, c.input(1));
}

void select_ref(KernelContext& c) {
  const auto index = c.scalar<int32_t>(0);
  if (index < 0 || index >= c.inputs() - 1) {
    throw invalid_argument("Index must be non-negative and less than {} but got {}", c.inputs() - 1, index);
  }
  c.forward_ref(1 + index, 0);
}

}  // namespace

DataflowKind dataflow_kind(const Op& op) {
  for (const KindRow& each : kKinds) {
    if (op.def->cpu.select == each.select) return each.kind;
  }
  return DataflowKind::None;
}

OpDef switch_op() { return switch_row("Switch", "data:T; pred:bool", "output_false:T; output_true:T", ""); }
OpDef ref_switch_op() {
  return switch_row("RefSwitch", "data:Ref(T); pred:bool", "output_false:Ref(T); output_true:Ref(T)",
                    "uninitialized_input");
}
OpDef merge_op() { return merge_row("Merge", "inputs:N*T", "output:T; value_index:int32"); }
OpDef ref_merge_op() { return merge_row("RefMerge", "inputs:Ref(N*T)", "output:Ref(T); value_index:int32"); }
OpDef enter_op() { return passing_row<DataflowKind::Enter>("Enter", false, kEnterAttrs); }
OpDef ref_enter_op() { return passing_row<DataflowKind::Enter>("RefEnter", true, kEnterAttrs); }
OpDef exit_op() { return passing_row<DataflowKind::Exit>("Exit", false, "T:type"); }
OpDef ref_exit_op() { return passing_row<DataflowKind::Exit>("RefExit", true, "T:type"); }
OpDef next_iteration_op() { return passing_row<DataflowKind::NextIteration>("NextIteration", false, "T:type"); }
OpDef ref_next_iteration_op() { return passing_row<DataflowKind::NextIteration>("RefNextIteration", true, "T:type"); }

OpDef loop_cond_op() {
  OpDef def = row("LoopCond", "input:bool", "output:bool", "");
  def.infer = infer::unchanged;
  def.gradient = not_differentiable;
  def.cpu.select = no_kernel<DataflowKind::LoopCond>;
  return def;
}

OpDef control_trigger_op() {
  OpDef def = row("ControlTrigger", "", "", "");
  def.gradient = not_differentiable;
  def.cpu.select = no_kernel<DataflowKind::Trigger>;
  return def;
}

OpDef ref_select_op() {
  return {.name = "RefSelect",
          .inputs = "index:int32; inputs:Ref(N*T)",
          .outputs = "output:Ref(T)",
          .attrs = "T:type; N:int>=1",
          .host = "index",
          .infer = infer_select,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<select_ref>},
          .effect = Effect::None};
}

}  // namespace weir::ops
