#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct IsNan {
  static constexpr auto kTruth = UnaryFn::IsNan;
  template <class T>
  bool operator()(T x) const {
    return std::isnan(x);
  }
};

}  // namespace

OpDef is_nan_op() { return predicate_op<IsNan, FloatTypes>("IsNan", kFloatT); }

}  // namespace weir::ops

namespace weir {

Output is_nan(const In& x, std::string_view name) { return NodeBuilder("IsNan", name).input(x).output(); }

}  // namespace weir
