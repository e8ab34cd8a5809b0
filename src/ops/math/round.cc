#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Round {
  static constexpr auto kTile = cpu::UnaryFn::Round;
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsInteger<T>) {
      return x;
    } else {
      return std::nearbyint(x);
    }
  }
};

}  // namespace

OpDef round_op() {
  using List = decltype(FloatTypes{} + Types<int32_t, int64_t>{});
  return unary_op<Round, List>("Round", kNumberT, not_differentiable);
}

}  // namespace weir::ops

namespace weir {

Output round(const In& x, std::string_view name) {
  if (x.output() && is_integer(x.output().dtype())) return x.output();
  return NodeBuilder("Round", name).input(x).output();
}

}  // namespace weir
