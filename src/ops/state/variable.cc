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

State prepare(PrepareContext& c) {
  const DType dtype = c.attr<DType>("dtype");
  State state{c.named_resource<VariableState>(
      [&](const std::string& name) { return make_resource<VariableState>(name, dtype, c.attr<Shape>("shape")); })};
  if (state.variable->dtype() != dtype) {
    throw invalid_argument("the variable '{}' is {}; it is asked for as {}", state.variable->name(),
                           dtype_name(state.variable->dtype()), dtype_name(dtype));
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

constexpr Kernel kKernel = {.select = kernel_any<cpu>, .prepare = prepared<prepare>};

}  // namespace

OpDef variable_op() {
  return {.name = "Variable",
          .outputs = "ref:Ref(dtype)",
          .attrs = "shape:shape; dtype:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .infer = infer_old_ref,
          .cpu = kKernel,
          .role = Role::Variable,
          .effect = Effect::None};
}

OpDef variable_v2_op() {
  return {.name = "VariableV2",
          .outputs = "ref:Ref(dtype)",
          .attrs = "shape:shape; dtype:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .infer = infer_ref,
          .cpu = kKernel,
          .role = Role::Variable,
          .effect = Effect::None};
}

OpDef var_handle_op() {
  return {.name = "VarHandleOp",
          .outputs = "resource:resource",
          .attrs = "container:string=''; shared_name:string=''; dtype:type; shape:shape",
          .flags = "stateful",
          .infer = infer::scalar,
          .cpu = kKernel,
          .role = Role::Variable,
          .effect = Effect::None};
}

}  // namespace weir::ops
