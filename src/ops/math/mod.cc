#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

// The result has the sign of x.
struct Mod {
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      return wrapping_mod(x, y);
    } else {
      return std::fmod(x, y);
    }
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    check_divisor(c, y);
  }
};

}  // namespace

OpDef mod_op() {
  return binary_op<Mod, ModTypes>({.name = "Mod", .attrs = "T:type{int32,int64,half,half,bfloat16,float,double}"});
}

}  // namespace weir::ops
