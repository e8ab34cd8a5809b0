#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) { *c.output<std::string>() = "0! == 1"; }

}  // namespace

OpDef fact_op() {
  return {.name = "Fact",
          .outputs = "fact:string",
          .infer = infer::scalar,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
