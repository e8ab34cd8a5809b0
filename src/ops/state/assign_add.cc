#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"
#include "weir/state_ops.h"

namespace weir::ops {
namespace {

void infer_resource(InferContext& c) { c.require_scalar(0); }

template <bool kSubtract>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    update_blocks<T, 1>(c, 1, [&](const auto& data, int64_t begin, int64_t end) {
      const T* value = c.input<T>(1);
      for (int64_t i = begin; i < end; ++i) {
        const Wide<T> now = data[0][i], by = value[i];
        data[0][i] = static_cast<T>(kSubtract ? wrapping_sub(now, by) : wrapping_add(now, by));
      }
    });
  }
};

OpDef ref_row(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "ref:Ref(T); value:T",
          .outputs = "output_ref:Ref(T)",
          .attrs = "T:numbertype; use_locking:bool=False",
          .infer = infer::merged,
          .gradient = not_differentiable,
          .cpu = cpu};
}

OpDef resource_row(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "resource:resource; value:dtype",
          .attrs = "dtype:type",
          .flags = "stateful",
          .infer = infer_resource,
          .cpu = cpu};
}

}  // namespace

OpDef assign_add_op() { return ref_row("AssignAdd", {.select = kernel_for<NumberTypes, Cpu<false>>}); }
OpDef assign_sub_op() { return ref_row("AssignSub", {.select = kernel_for<NumberTypes, Cpu<true>>}); }
OpDef assign_add_variable_op() {
  return resource_row("AssignAddVariableOp", {.select = kernel_for<NumberTypes, Cpu<false>, AttrDtype>});
}
OpDef assign_sub_variable_op() {
  return resource_row("AssignSubVariableOp", {.select = kernel_for<NumberTypes, Cpu<true>, AttrDtype>});
}

}  // namespace weir::ops

namespace weir {
namespace {

Output update(std::string_view ref_op, std::string_view resource_op, const Variable& variable, const In& value,
              const UpdateOptions& options, std::string_view name) {
  if (!variable.is_resource()) {
    NodeBuilder node(ref_op, name, value.where());
    if (options.use_locking) node.attr("use_locking", *options.use_locking);
    return node.input(variable.handle()).input(value).output();
  }
  Operation write = NodeBuilder(resource_op, name, value.where())
                        .input(variable.handle())
                        .input(value)
                        .attr("dtype", variable.dtype())
                        .build();
  auto after = variable.graph().control_dependencies({write});
  return read_variable(variable);
}

}  // namespace

Output assign_add(const Variable& variable, const In& value, std::string_view name, const UpdateOptions& options) {
  return update("AssignAdd", "AssignAddVariableOp", variable, value, options, name);
}

Output assign_sub(const Variable& variable, const In& value, std::string_view name, const UpdateOptions& options) {
  return update("AssignSub", "AssignSubVariableOp", variable, value, options, name);
}

}  // namespace weir
