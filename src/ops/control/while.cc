#include "graph/op_def.h"
#include "ops/control/output_shapes.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs =
    "T:list(type)>=0; cond:func; body:func; output_shapes:list(shape)=[]; parallel_iterations:int=10";

OpDef row(std::string_view name, std::string_view flags) {
  return {.name = name,
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .flags = flags,
          .infer = infer_declared_shapes};
}

}  // namespace

OpDef while_op() { return row("While", "stateful"); }
OpDef stateless_while_op() { return row("StatelessWhile", ""); }

}  // namespace weir::ops
