#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

// NaN is passed over.
struct Min {
  static constexpr auto kFn = ReduceFn::Min;
  template <class T>
  static Accumulator<T> start() {
    if constexpr (kIsInteger<T>) {
      return std::numeric_limits<T>::max();
    } else {
      return std::numeric_limits<double>::infinity();
    }
  }
  template <class A>
  static A step(A sum, A x) {
    return x < sum ? x : sum;
  }
  template <class T>
  static Accumulator<T> finish(Accumulator<T> sum, [[maybe_unused]] int64_t count) {
    return sum;
  }
};

}  // namespace

OpDef min_op() { return reduction_op<Min, RealTypes>("Min", extremum_gradient); }

}  // namespace weir::ops
