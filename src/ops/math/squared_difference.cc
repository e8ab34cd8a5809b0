#include "ops/math/binary.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct SquaredDifference {
  static constexpr auto kTile = cpu::BinaryFn::SquaredDifference;
  template <class T>
  T operator()(T x, T y) const {
    T d = wrapping_sub(x, y);
    if constexpr (kIsComplex<T>) {
      return d * std::conj(d);
    } else {
      return wrapping_mul(d, d);
    }
  }
};

void gradient(GradContext& c) {
  Output x_grad = (2.0 * c.output_grad()) * (c.input(0) - c.input(1));
  set_broadcast_grads(c, x_grad, -x_grad);
}

}  // namespace

OpDef squared_difference_op() {
  return binary_op<SquaredDifference, SignedTypes>(
      {.name = "SquaredDifference", .attrs = kNumberT, .flags = "commutative", .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output squared_difference(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("SquaredDifference", name).input(x).input(y).output();
}

}  // namespace weir
