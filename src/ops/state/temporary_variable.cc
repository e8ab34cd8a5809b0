#include "graph/grad_context.h"
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

// Found by its reference alone: every frame of a plan has one of its own, and so has every run.
State prepare(PrepareContext& c) {
  const auto& name = c.attr<std::string>("var_name");
  return {make_resource<VariableState>(name.empty() ? std::string(c.node().name()) : name, c.attr<DType>("dtype"),
                                       c.attr<Shape>("shape"))};
}

// Begins with zeros: whoever reads it before it is written gets no error.
void make(KernelContext& c) {
  VariableState& variable = *c.state<State>().variable;
  if (!variable.initialized()) variable.assign(Tensor::zeros(variable.dtype(), variable.shape()));
  c.set_resource(0, &variable);
}

void infer(InferContext& c) { c.set_output(0, c.attr<Shape>("shape")); }

struct Name {
  std::string name;
};

Name prepare_destroy(PrepareContext& c) { return {c.attr<std::string>("var_name")}; }

// Its last value; the next run begins without one.
void destroy(KernelContext& c) {
  VariableState& variable = c.variable(0);
  if (const std::string& name = c.state<Name>().name; name != variable.name()) {
    throw not_found("there is no temporary variable '{}'; this one is '{}'", name, variable.name());
  }
  c.set_output(0, variable.read());
  variable.clear();
}

}  // namespace

OpDef temporary_variable_op() {
  return {.name = "TemporaryVariable",
          .outputs = "ref:Ref(dtype)",
          .attrs = "shape:shape; dtype:type; var_name:string=''",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<make>, .prepare = prepared<prepare>},
          .role = Role::Variable,
          .effect = Effect::None};
}

OpDef destroy_temporary_variable_op() {
  return {.name = "DestroyTemporaryVariable",
          .inputs = "ref:Ref(T)",
          .outputs = "value:T",
          .attrs = "T:type; var_name:string",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<destroy>, .prepare = prepared<prepare_destroy>, .gives_outputs = true}};
}

}  // namespace weir::ops
