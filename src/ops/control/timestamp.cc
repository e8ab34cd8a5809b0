#include <chrono>

#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  *c.output<double>() = std::chrono::duration<double>(now).count();
}

}  // namespace

OpDef timestamp_op() {
  return {.name = "Timestamp",
          .outputs = "ts:double",
          .flags = "stateful",
          .host = "ts",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
