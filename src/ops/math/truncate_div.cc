#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct TruncateDiv {
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_div(x, y);
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    check_divisor(c, y);
  }
};

}  // namespace

OpDef truncate_div_op() {
  return binary_op<TruncateDiv, SmallIntTypes>(
      {.name = "TruncateDiv", .attrs = kArithmeticT, .gradient = not_differentiable});
}

}  // namespace weir::ops

namespace weir {

Output truncatediv(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("TruncateDiv", name).input(x).input(y).output();
}

}  // namespace weir
