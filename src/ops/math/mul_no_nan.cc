#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct MulNoNan {
  template <class T>
  T operator()(T x, T y) const {
    return y == T(0) ? T(0) : x * y;
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad();
  Output x_grad = multiply_no_nan(dz, c.input(1));
  Output y_grad = multiply_no_nan(c.input(0), dz);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef mul_no_nan_op() {
  return binary_op<MulNoNan, NoNanTypes>({.name = "MulNoNan", .attrs = kNoNanT, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output multiply_no_nan(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("MulNoNan", name).input(x).input(y).output();
}

}  // namespace weir
