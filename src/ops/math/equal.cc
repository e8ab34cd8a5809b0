#include "ops/math/equality.h"

namespace weir::ops {
namespace {

struct Equal {
  static constexpr auto kTruth = BinaryFn::Equal;
  static constexpr bool kMismatched = false;
  template <class T>
  bool operator()(const T& x, const T& y) const {
    return x == y;
  }
};

}  // namespace

OpDef equal_op() { return equality_op<Equal>("Equal"); }

}  // namespace weir::ops

namespace weir {

Output equal(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Equal", name).input(x).input(y).output();
}

}  // namespace weir
