#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Ceil {
  static constexpr auto kTile = cpu::UnaryFn::Ceil;
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};

}  // namespace

OpDef ceil_op() { return unary_op<Ceil, FloatTypes>("Ceil", kFloatT, not_differentiable); }

}  // namespace weir::ops

namespace weir {

Output ceil(const In& x, std::string_view name) { return NodeBuilder("Ceil", name).input(x).output(); }

}  // namespace weir
