#include "ops/math/equality.h"

namespace weir::ops {
namespace {

struct NotEqual {
  static constexpr auto kTruth = BinaryFn::NotEqual;
  static constexpr bool kMismatched = true;
  template <class T>
  bool operator()(const T& x, const T& y) const {
    return x != y;
  }
};

}  // namespace

OpDef not_equal_op() { return equality_op<NotEqual>("NotEqual"); }

}  // namespace weir::ops

namespace weir {

Output not_equal(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("NotEqual", name).input(x).input(y).output();
}

}  // namespace weir
