#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct GreaterEqual {
  static constexpr auto kTruth = BinaryFn::GreaterEqual;
  template <class T>
  bool operator()(T x, T y) const {
    return x >= y;
  }
};

}  // namespace

OpDef greater_equal_op() { return comparison_op<GreaterEqual, RealTypes>({.name = "GreaterEqual", .attrs = kOrderT}); }

}  // namespace weir::ops

namespace weir {

Output greater_equal(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("GreaterEqual", name).input(x).input(y).output();
}

Output operator>=(const In& x, const In& y) { return NodeBuilder("GreaterEqual").input(x).input(y).output(); }

}  // namespace weir
