#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/kernel.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  ResourcePtr<VariableState> variable;
};

// A reference to no elements needs no initial value, as in TensorFlow: what is not there cannot be missing.
template <bool is_ref>
State prepare(PrepareContext& c) {
  return {c.named_resource<VariableState>([&](const std::string& name) {
    const auto dtype = c.attr<DType>("dtype");
    const auto& shape = c.attr<Shape>("shape");
    auto variable = make_resource<VariableState>(name, dtype, shape);
    if (is_ref && shape.is_known() && shape.elements() == 0) variable->assign(Tensor(dtype, shape));
    return variable;
  })};
}

// The type of a reference is that of its variable. Handles of one name may say different types and shapes: those who
// use them find out, as in TensorFlow.
State prepare_ref(PrepareContext& c) {
  State state = prepare<true>(c);
  const auto dtype = c.attr<DType>("dtype");
  if (state.variable->dtype() != dtype) {
    throw error(Code::Internal, "Output 0 of type {}_ref does not match declared output type {}_ref: variable '{}'",
                dtype_name(state.variable->dtype()), dtype_name(dtype), state.variable->name());
  }
  return state;
}

void cpu(KernelContext& c) { c.set_resource(0, c.state<State>().variable.get()); }

void infer_ref(InferContext& c) { c.set_output(0, c.attr<Shape>("shape")); }

// The old operation could not say "unknown rank": an empty shape meant that.
void infer_old_ref(InferContext& c) {
  const auto& shape = c.attr<Shape>("shape");
  c.set_output(0, shape.is_scalar() ? Shape::unknown() : shape);
}

constexpr Kernel kRef = {.select = kernel_any<cpu>, .prepare = prepared<prepare_ref>};
constexpr Kernel kHandle = {.select = kernel_any<cpu>, .prepare = prepared<prepare<false>>};

}  // namespace

OpDef variable_op() {
  return {.name = "Variable",
          .outputs = "ref:Ref(dtype)",
          .attrs = "shape:shape; dtype:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .infer = infer_old_ref,
          .cpu = kRef,
          .role = Role::Variable,
          .effect = Effect::None};
}

OpDef variable_v2_op() {
  return {.name = "VariableV2",
          .outputs = "ref:Ref(dtype)",
          .attrs = "shape:shape; dtype:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .infer = infer_ref,
          .cpu = kRef,
          .role = Role::Variable,
          .effect = Effect::None};
}

OpDef var_handle_op() {
  return {.name = "VarHandleOp",
          .outputs = "resource:resource",
          .attrs = "container:string=''; shared_name:string=''; dtype:type; shape:shape",
          .flags = "stateful",
          .infer = infer::scalar,
          .cpu = kHandle,
          .role = Role::Variable,
          .effect = Effect::None};
}

}  // namespace weir::ops
