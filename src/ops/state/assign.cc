#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"
#include "weir/state_ops.h"

namespace weir::ops {
namespace {

struct State {
  bool validate_shape;
};

State prepare(PrepareContext& c) {
  const AttrValue* validate = c.node().attrs().find("validate_shape");
  return {!validate || std::get<bool>(*validate)};
}

void infer(InferContext& c) {
  if (!c.attr<bool>("validate_shape")) return c.set_output(0, c.input(1));
  if (!c.input(0).compatible(c.input(1))) {
    throw invalid_argument("Assign requires shapes of both tensors to match: the variable has shape {}, the value {}",
                           c.input(0).str(), c.input(1).str());
  }
  c.set_output(0, c.input(0).merged(c.input(1)));
}

void infer_resource(InferContext& c) { c.require_scalar(0); }

// The value is copied: it may stand in memory that the plan, or the program that fed it, uses again.
void cpu(KernelContext& c) {
  VariableState& variable = c.variable(0);
  if (variable.dtype() != c.dtype(1)) {
    throw invalid_argument("Trying to assign variable with wrong dtype. Expected {} got {}: '{}'",
                           dtype_name(variable.dtype()), dtype_name(c.dtype(1)), variable.name());
  }
  if (c.state<State>().validate_shape && !variable.shape().compatible(c.shape(1))) {
    throw invalid_argument("variable '{}' has shape {}; it cannot take a value of shape {}", variable.name(),
                           variable.shape().str(), c.shape(1).str());
  }
  const bool locked = c.node().use_locking().value_or(true);
  variable.copy_from(c.raw_input(1), c.shape(1), locked ? UpdateMode::Atomic : UpdateMode::Unlocked);
  if (c.outputs() > 0) c.forward_ref(0, 0);
}

constexpr Kernel kKernel = {.select = kernel_any<cpu>, .prepare = prepared<prepare>};

}  // namespace

OpDef assign_op() {
  return {.name = "Assign",
          .inputs = "ref:Ref(T); value:T",
          .outputs = "output_ref:Ref(T)",
          .attrs = "T:type; validate_shape:bool=True; use_locking:bool=True",
          .flags = "uninitialized_input",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = kKernel};
}

OpDef assign_variable_op() {
  return {.name = "AssignVariableOp",
          .inputs = "resource:resource; value:dtype",
          .attrs = "dtype:type",
          .flags = "stateful",
          .infer = infer_resource,
          .cpu = kKernel};
}

}  // namespace weir::ops

namespace weir {

Output assign(const Variable& variable, const In& value, const AssignOptions& options, std::string_view name) {
  if (!variable.is_resource()) {
    return NodeBuilder("Assign", name, value.where())
        .input(variable.handle())
        .input(value)
        .attr("validate_shape", options.validate_shape)
        .attr("use_locking", options.use_locking)
        .output();
  }
  Operation write = NodeBuilder("AssignVariableOp", name, value.where())
                        .input(variable.handle())
                        .input(value)
                        .attr("dtype", variable.dtype())
                        .build();
  auto after = variable.graph().control_dependencies({write});
  return read_variable(variable);
}

}  // namespace weir
