#include <cmath>

#include "ops/math/binary.h"

namespace weir::ops {
namespace {

// The result has the sign of x.
struct TruncateMod {
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

OpDef mod_op() {  // the old name
  return binary_op<TruncateMod, ModTypes>(
      {.name = "Mod", .attrs = "T:type{int32,int64,half,half,bfloat16,float,double}"});
}
OpDef truncate_mod_op() { return binary_op<TruncateMod, ModTypes>({.name = "TruncateMod", .attrs = kModT}); }

}  // namespace weir::ops

namespace weir {

Output truncatemod(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("TruncateMod", name).input(x).input(y).output();
}

}  // namespace weir
