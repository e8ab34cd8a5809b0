#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct NextAfter {
  template <class T>
  T operator()(T x, T towards) const {
    return std::nextafter(x, towards);
  }
};

// A step to the next number moves with x alone.
void gradient(GradContext& c) {
  Output grad = c.output_grad();
  set_broadcast_grads(c, grad, zeros_like(grad));
}

}  // namespace

OpDef next_after_op() {
  OpDef row = binary_op<NextAfter, Types<float, double>>(
      {.name = "NextAfter", .attrs = "T:type{double,float}=float", .gradient = gradient, .inputs = "x1:T; x2:T"});
  row.outputs = "output:T";
  return row;
}

}  // namespace weir::ops
