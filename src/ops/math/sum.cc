#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

struct Sum {
  static constexpr auto kFn = ReduceFn::Sum;
  template <class T>
  static Accumulator<T> start() {
    return Accumulator<T>(0);
  }
  template <class A>
  static A step(A sum, A x) {
    return wrapping_add(sum, x);
  }
  template <class T>
  static Accumulator<T> finish(Accumulator<T> sum, [[maybe_unused]] int64_t count) {
    return sum;
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, spread_gradient(c)); }

}  // namespace

OpDef sum_op() { return reduction_op<Sum, NumberTypes>("Sum", gradient); }

}  // namespace weir::ops
