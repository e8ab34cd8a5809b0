#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"
#include "weir/state_ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { *c.output<bool>() = c.variable(0).initialized(); }

}  // namespace

OpDef is_variable_initialized_op() {
  return {.name = "IsVariableInitialized",
          .inputs = "ref:Ref(dtype)",
          .outputs = "is_initialized:bool",
          .attrs = "dtype:type",
          .flags = "uninitialized_input",
          .host = "is_initialized",
          .infer = infer::scalar,
          .cpu = {.select = kernel_any<cpu>},
          .effect = Effect::Reads};
}

OpDef var_is_initialized_op() {
  return {.name = "VarIsInitializedOp",
          .inputs = "resource:resource",
          .outputs = "is_initialized:bool",
          .flags = "stateful",
          .host = "is_initialized",
          .infer = infer::scalar,
          .cpu = {.select = kernel_any<cpu>},
          .effect = Effect::Reads};
}

}  // namespace weir::ops

namespace weir {

Output is_variable_initialized(const Variable& variable, std::string_view name) {
  return NodeBuilder(variable.is_resource() ? "VarIsInitializedOp" : "IsVariableInitialized", name)
      .input(variable.handle())
      .output();
}

}  // namespace weir
