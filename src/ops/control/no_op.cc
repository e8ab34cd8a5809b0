#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext&) {}

}  // namespace

OpDef no_op_op() { return {.name = "NoOp", .cpu = {.select = kernel_any<cpu>}, .role = Role::Nothing}; }

}  // namespace weir::ops
