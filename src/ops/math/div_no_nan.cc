#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct DivNoNan {
  static constexpr auto kTile = cpu::BinaryFn::DivNoNan;
  template <class T>
  T operator()(T x, T y) const {
    return y == T(0) ? T(0) : x / y;
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = conj(c.input(0)), y = conj(c.input(1));
  Output x_grad = div_no_nan(dz, y);
  Output y_grad = dz * div_no_nan(div_no_nan(-x, y), y);
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef div_no_nan_op() {
  return binary_op<DivNoNan, NoNanTypes>({.name = "DivNoNan", .attrs = kNoNanT, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output div_no_nan(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("DivNoNan", name).input(x).input(y).output();
}

}  // namespace weir
