#include "graph/op_def.h"
#include "ops/control/output_shapes.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs =
    "Tcond:type; Tin:list(type)>=0; Tout:list(type)>=0; then_branch:func; else_branch:func; "
    "output_shapes:list(shape)=[]";

OpDef row(std::string_view name, std::string_view flags) {
  return {.name = name,
          .inputs = "cond:Tcond; input:Tin",
          .outputs = "output:Tout",
          .attrs = kAttrs,
          .flags = flags,
          .infer = infer_declared_shapes};
}

}  // namespace

OpDef if_op() { return row("If", "stateful"); }
OpDef stateless_if_op() { return row("StatelessIf", ""); }

}  // namespace weir::ops
