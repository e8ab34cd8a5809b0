#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct IsFinite {
  static constexpr auto kTruth = UnaryFn::IsFinite;
  template <class T>
  bool operator()(T x) const {
    return std::isfinite(x);
  }
};

}  // namespace

OpDef is_finite_op() { return predicate_op<IsFinite, FloatTypes>("IsFinite", kFloatT); }

}  // namespace weir::ops

namespace weir {

Output is_finite(const In& x, std::string_view name) { return NodeBuilder("IsFinite", name).input(x).output(); }

}  // namespace weir
