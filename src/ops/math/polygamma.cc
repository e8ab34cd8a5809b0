#include "ops/math/binary.h"
#include "ops/math/special.h"

namespace weir::ops {
namespace {

struct Polygamma {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(polygamma_of(a, b));
  }
};

// By x alone; orders are integers.
void gradient(GradContext& c) {
  Output next = c.input(0) + 1;
  Output grad = c.output_grad() * NodeBuilder("Polygamma").input(next).input(c.input(1)).output();
  c.set_input_grad(1, reduce_broadcast(grad, c.input(0), grad, c.input(1)).second);
}

}  // namespace

OpDef polygamma_op() {
  return binary_op<Polygamma, Types<float, double>>(
      {.name = "Polygamma", .attrs = "T:type{float,double}", .gradient = gradient, .inputs = "a:T; x:T"});
}

}  // namespace weir::ops
