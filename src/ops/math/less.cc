#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Less {
  static constexpr auto kTruth = BinaryFn::Less;
  template <class T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};

}  // namespace

OpDef less_op() { return comparison_op<Less, RealTypes>({.name = "Less", .attrs = kOrderT}); }

}  // namespace weir::ops

namespace weir {

Output less(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Less", name).input(x).input(y).output();
}

Output operator<(const In& x, const In& y) { return NodeBuilder("Less").input(x).input(y).output(); }

}  // namespace weir
