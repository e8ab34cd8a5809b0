#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"
#include "weir/state_ops.h"

namespace weir::ops {
namespace {

void infer_handle(InferContext& c) { c.set_output(0, c.handle_shape(0)); }

void gradient(GradContext& c) { c.set_input_grad(0, c.raw_output_grad()); }

// The attribute `_live` says that the value is not needed any more when this run writes the variable: see
// VariableState::read_live.
template <bool kLive>
void read_ref(KernelContext& c) {
  c.set_output(0, kLive ? c.variable(0).read_live() : c.variable(0).read());
}

struct State {
  DType dtype;
};

State prepare(PrepareContext& c) { return {c.attr<DType>("dtype")}; }

// What a program that fetches the reference to a queue or a barrier gets.
void read_handle_name(KernelContext& c) {
  if (dynamic_cast<VariableState*>(&c.resource<Resource>(0))) return read_ref<false>(c);
  c.set_output(0, Tensor(c.resource<Resource>(0).describe()));
}
ComputeFn select_ref(const NodeView& node) {
  if (node.type() == DType::String) return read_handle_name;
  return node.attrs().find("_live") ? read_ref<true> : read_ref<false>;
}

template <bool kLive>
void read_handle(KernelContext& c) {
  const VariableState& variable = c.variable(0);
  const DType wanted = c.state<State>().dtype;
  if (variable.dtype() != wanted) {
    throw invalid_argument("Trying to read variable with wrong dtype. Expected {} got {}: '{}'", dtype_name(wanted),
                           dtype_name(variable.dtype()), variable.name());
  }
  read_ref<kLive>(c);
}

template <ComputeFn kLive, ComputeFn kSnapshot>
ComputeFn select(const NodeView& node) {
  return node.attrs().find("_live") ? kLive : kSnapshot;
}

}  // namespace

OpDef read_variable_op() {
  return {.name = "ReadVariableOp",
          .inputs = "resource:resource",
          .outputs = "value:dtype",
          .attrs = "dtype:type",
          .flags = "stateful",
          .infer = infer_handle,
          .gradient = gradient,
          .cpu = {.select = select<read_handle<true>, read_handle<false>>,
                  .prepare = prepared<prepare>,
                  .gives_outputs = true},
          .role = Role::Read,
          .effect = Effect::Reads};
}

// Put by the runtime wherever a value is read through a reference.
OpDef read_ref_op() {
  return {.name = "_Read",
          .inputs = "ref:Ref(T)",
          .outputs = "value:T",
          .attrs = "T:type",
          .flags = "stateful",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = select_ref, .gives_outputs = true},
          .role = Role::Read,
          .effect = Effect::Reads};
}

}  // namespace weir::ops

namespace weir {

Output read_variable(const Variable& variable, std::string_view name) {
  if (!variable.is_resource()) return NodeBuilder("Identity", name).input(variable.handle()).output();
  return NodeBuilder("ReadVariableOp", name).input(variable.handle()).attr("dtype", variable.dtype()).output();
}

}  // namespace weir
