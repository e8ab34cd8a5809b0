#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Rint {
  static constexpr auto kTile = cpu::UnaryFn::Round;
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};

}  // namespace

OpDef rint_op() { return unary_op<Rint, FloatTypes>("Rint", kFloatT, not_differentiable); }

}  // namespace weir::ops

namespace weir {

Output rint(const In& x, std::string_view name) { return NodeBuilder("Rint", name).input(x).output(); }

}  // namespace weir
