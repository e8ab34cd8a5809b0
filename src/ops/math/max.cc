#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

// NaN is passed over.
struct Max {
  static constexpr auto kFn = ReduceFn::Max;
  template <class T>
  static Accumulator<T> start() {
    if constexpr (kIsInteger<T>) {
      return std::numeric_limits<T>::lowest();
    } else {
      return -std::numeric_limits<double>::infinity();
    }
  }
  template <class A>
  static A step(A sum, A x) {
    return x > sum ? x : sum;
  }
  template <class T>
  static Accumulator<T> finish(Accumulator<T> sum, [[maybe_unused]] int64_t count) {
    return sum;
  }
};

}  // namespace

OpDef max_op() { return reduction_op<Max, RealTypes>("Max", extremum_gradient); }

}  // namespace weir::ops
