#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Atan2 {
  static constexpr auto kTile = cpu::BinaryFn::Atan2;
  static constexpr int64_t kGrain = 2048;
  template <class T>
  T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};

void gradient(GradContext& c) {
  Output y = c.input(0), x = c.input(1);
  Output ratio = c.output_grad() / (square(x) + square(y));
  Output x_grad = x * ratio;
  Output y_grad = -y * ratio;
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef atan2_op() {
  return binary_op<Atan2, FloatTypes>(
      {.name = "Atan2", .attrs = "T:type{bfloat16,half,float,double}", .gradient = gradient, .inputs = "y:T; x:T"});
}

}  // namespace weir::ops

namespace weir {

Output atan2(const In& y, const In& x, std::string_view name) {
  return NodeBuilder("Atan2", name).input(y).input(x).output();
}

}  // namespace weir
