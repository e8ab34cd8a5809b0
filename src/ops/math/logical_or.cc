#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct LogicalOr {
  bool operator()(bool x, bool y) const { return x || y; }
};

}  // namespace

OpDef logical_or_op() {
  return {.name = "LogicalOr",
          .inputs = "x:bool; y:bool",
          .outputs = "z:bool",
          .flags = "commutative",
          .infer = infer::broadcast_binary,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<BinaryKernel<LogicalOr>::run<bool>>,
                  .prepare = prepared<prepare_binary>,
                  .in_place = 0b11},
          .elementwise = BinaryFn::LogicalOr};
}

}  // namespace weir::ops

namespace weir {

Output logical_or(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("LogicalOr", name).input(x).input(y).output();
}

}  // namespace weir
