#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/kernel.h"
#include "ops/state/variable_state.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  VariableState* variable;
};

State prepare(PrepareContext& c) {
  const auto& container = c.attr<std::string>("container");
  const auto& shared_name = c.attr<std::string>("shared_name");
  std::string name(shared_name.empty() ? c.node().name() : shared_name);
  if (!container.empty()) name = container + "/" + name;
  return {&c.resources().variable(name, c.attr<DType>("dtype"), c.attr<Shape>("shape"))};
}

void cpu(KernelContext& c) { c.set_variable(0, c.state<State>().variable); }

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
          .cpu = kKernel};
}

OpDef variable_v2_op() {
  return {.name = "VariableV2",
          .outputs = "ref:Ref(dtype)",
          .attrs = "shape:shape; dtype:type; container:string=''; shared_name:string=''",
          .flags = "stateful",
          .infer = infer_ref,
          .cpu = kKernel};
}

OpDef var_handle_op() {
  return {.name = "VarHandleOp",
          .outputs = "resource:resource",
          .attrs = "container:string=''; shared_name:string=''; dtype:type; shape:shape",
          .flags = "stateful",
          .infer = infer::scalar,
          .cpu = kKernel};
}

}  // namespace weir::ops
