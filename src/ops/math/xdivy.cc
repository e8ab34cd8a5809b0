#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Xdivy {
  template <class T>
  T operator()(T x, T y) const {
    return x == T(0) ? T(0) : x / y;
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = c.input(0), y = c.input(1);
  Output not_zero = cast(not_equal(x, 0.0), x.dtype());
  Output x_grad = xdivy(not_zero, y) * dz;
  Output y_grad = xdivy(negative(x), pow(y, 2.0)) * dz;
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef xdivy_op() { return binary_op<Xdivy, NoNanTypes>({.name = "Xdivy", .attrs = kNoNanT, .gradient = gradient}); }

}  // namespace weir::ops

namespace weir {

Output xdivy(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Xdivy", name).input(x).input(y).output();
}

}  // namespace weir
