#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct FloorDiv {
  static constexpr auto kTile = cpu::BinaryFn::FloorDiv;
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      T quotient = wrapping_div(x, y);
      return (x < 0) != (y < 0) && wrapping_mod(x, y) != 0 ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return std::floor(x / y);
    }
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    check_divisor(c, y);
  }
};

}  // namespace

OpDef floor_div_op() {
  return binary_op<FloorDiv, decltype(FloatTypes{} + SmallIntTypes{})>(
      {.name = "FloorDiv", .attrs = kArithmeticT, .gradient = not_differentiable});
}

}  // namespace weir::ops

namespace weir {

Output floordiv(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("FloorDiv", name.empty() ? "floordiv" : name).input(x).input(y).output();
}

}  // namespace weir
