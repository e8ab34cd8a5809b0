#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Xlogy {
  static constexpr int64_t kGrain = 2048;
  template <class T>
  T operator()(T x, T y) const {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), x = c.input(0), y = c.input(1);
  Output not_zero = cast(not_equal(x, 0.0), x.dtype());
  Output x_grad = xlogy(not_zero, y) * dz;
  Output y_grad = xdivy(x, y) * dz;
  set_broadcast_grads(c, x_grad, y_grad);
}

}  // namespace

OpDef xlogy_op() { return binary_op<Xlogy, NoNanTypes>({.name = "Xlogy", .attrs = kNoNanT, .gradient = gradient}); }

}  // namespace weir::ops

namespace weir {

Output xlogy(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Xlogy", name).input(x).input(y).output();
}

}  // namespace weir
