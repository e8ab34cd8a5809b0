#include "ops/math/unary.h"

namespace weir::ops {
namespace {

void cpu_kernel(KernelContext& c) {
  const bool* x = c.input<bool>(0);
  bool* y = c.output<bool>();
  c.pool().parallel_for(c.output_elements(), 65536, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = !x[i];
  });
}

}  // namespace

OpDef logical_not_op() {
  return {.name = "LogicalNot",
          .inputs = "x:bool",
          .outputs = "y:bool",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_kernel>, .in_place = 0b1},
          .elementwise = UnaryFn::LogicalNot};
}

}  // namespace weir::ops

namespace weir {

Output logical_not(const In& x, std::string_view name) { return NodeBuilder("LogicalNot", name).input(x).output(); }

}  // namespace weir
