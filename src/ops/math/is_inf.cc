#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct IsInf {
  static constexpr auto kTruth = UnaryFn::IsInf;
  template <class T>
  bool operator()(T x) const {
    return std::isinf(x);
  }
};

}  // namespace

OpDef is_inf_op() { return predicate_op<IsInf, FloatTypes>("IsInf", kFloatT); }

}  // namespace weir::ops

namespace weir {

Output is_inf(const In& x, std::string_view name) { return NodeBuilder("IsInf", name).input(x).output(); }

}  // namespace weir
