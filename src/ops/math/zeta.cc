#include "ops/math/binary.h"
#include "ops/math/special.h"

namespace weir::ops {
namespace {

struct Zeta {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(zeta_of(a, b));
  }
};

// By q alone.
void gradient(GradContext& c) {
  Output x = c.input(0), next = x + 1;
  Output grad = c.output_grad() * (-x * NodeBuilder("Zeta").input(next).input(c.input(1)).output());
  c.set_input_grad(1, reduce_broadcast(grad, x, grad, c.input(1)).second);
}

}  // namespace

OpDef zeta_op() {
  return binary_op<Zeta, Types<float, double>>(
      {.name = "Zeta", .attrs = "T:type{float,double}", .gradient = gradient, .inputs = "x:T; q:T"});
}

}  // namespace weir::ops
