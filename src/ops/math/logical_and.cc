#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct LogicalAnd {
  bool operator()(bool x, bool y) const { return x && y; }
};

}  // namespace

OpDef logical_and_op() {
  return {.name = "LogicalAnd",
          .inputs = "x:bool; y:bool",
          .outputs = "z:bool",
          .flags = "commutative",
          .infer = infer::broadcast_binary,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<BinaryKernel<LogicalAnd>::run<bool>>,
                  .prepare = prepared<prepare_binary>,
                  .in_place = 0b11},
          .elementwise = BinaryFn::LogicalAnd};
}

}  // namespace weir::ops

namespace weir {

Output logical_and(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("LogicalAnd", name).input(x).input(y).output();
}

}  // namespace weir
