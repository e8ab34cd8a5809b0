#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

struct Mean {
  static constexpr auto kFn = ReduceFn::Mean;
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
    if constexpr (kIsInteger<T>) {
      return count == 0 ? 0 : sum / static_cast<Accumulator<T>>(count);
    } else {
      return sum / static_cast<double>(count);
    }
  }
};

void gradient(GradContext& c) {
  Output sum_grad = spread_gradient(c);
  const Shape &x = c.input(0).shape(), &y = c.output(0).shape();
  Output count;
  if (x.is_known() && y.is_known()) {
    count = c.graph().constant(x.elements() / std::max<int64_t>(y.elements(), 1), sum_grad.dtype());
  } else {
    Output elements = reduce_prod(shape(c.input(0))), results = reduce_prod(shape(c.output(0)));
    count = cast(floordiv(elements, maximum(results, 1)), sum_grad.dtype());
  }
  c.set_input_grad(0, sum_grad / count);
}

}  // namespace

OpDef mean_op() { return reduction_op<Mean, NumberTypes>("Mean", gradient); }

}  // namespace weir::ops
