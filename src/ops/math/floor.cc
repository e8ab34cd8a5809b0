#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Floor {
  static constexpr auto kTile = cpu::UnaryFn::Floor;
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};

}  // namespace

OpDef floor_op() { return unary_op<Floor, FloatTypes>("Floor", kFloatT, not_differentiable); }

}  // namespace weir::ops

namespace weir {

Output floor(const In& x, std::string_view name) { return NodeBuilder("Floor", name).input(x).output(); }

}  // namespace weir
