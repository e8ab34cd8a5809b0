#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Sub {
  static constexpr auto kTile = cpu::BinaryFn::Sub;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_sub(x, y);
  }
};

void gradient(GradContext& c) { set_broadcast_grads(c, c.output_grad(), -c.output_grad()); }

}  // namespace

OpDef sub_op() { return binary_op<Sub, ArithmeticTypes>({.name = "Sub", .attrs = kArithmeticT, .gradient = gradient}); }

}  // namespace weir::ops

namespace weir {

Output subtract(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Sub", name).input(x).input(y).output();
}

Output operator-(const In& x, const In& y) { return NodeBuilder("Sub", "sub").input(x).input(y).output(); }

}  // namespace weir
