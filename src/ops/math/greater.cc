#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Greater {
  static constexpr auto kTruth = BinaryFn::Greater;
  template <class T>
  bool operator()(T x, T y) const {
    return x > y;
  }
};

}  // namespace

OpDef greater_op() { return comparison_op<Greater, RealTypes>({.name = "Greater", .attrs = kOrderT}); }

}  // namespace weir::ops

namespace weir {

Output greater(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Greater", name).input(x).input(y).output();
}

Output operator>(const In& x, const In& y) { return NodeBuilder("Greater").input(x).input(y).output(); }

}  // namespace weir
