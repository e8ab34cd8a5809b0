#include <algorithm>
#include <cstring>

#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/kernel.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  constexpr int64_t kBlock = 256 << 10;  // bytes: enough to be worth another core
  const auto* from = static_cast<const char*>(c.raw_input(0));
  auto* to = static_cast<char*>(c.raw_output());
  if (!from) return;  // an output of an If that the branch which ran does not give: nobody reads it
  const int64_t bytes = c.elements(0) * static_cast<int64_t>(dtype_size(c.dtype(0)));
  c.pool().parallel_for(bytes, kBlock, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

}  // namespace

// Put by the runtime where a value crosses from one device's memory to another's; see passes/insert_copies.cc.
OpDef copy_op() {
  return {.name = "_Copy",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer::unchanged,
          .cpu = {.select = kernel_any<cpu>},
          .role = Role::Copy};
}

}  // namespace weir::ops
