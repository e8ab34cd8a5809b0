#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct LessEqual {
  static constexpr auto kTruth = BinaryFn::LessEqual;
  template <class T>
  bool operator()(T x, T y) const {
    return x <= y;
  }
};

}  // namespace

OpDef less_equal_op() { return comparison_op<LessEqual, RealTypes>({.name = "LessEqual", .attrs = kOrderT}); }

}  // namespace weir::ops

namespace weir {

Output less_equal(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("LessEqual", name).input(x).input(y).output();
}

Output operator<=(const In& x, const In& y) { return NodeBuilder("LessEqual").input(x).input(y).output(); }

}  // namespace weir
