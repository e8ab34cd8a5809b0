#include "ops/math/extremum.h"

namespace weir::ops {
namespace {

struct Maximum {
  static constexpr auto kTile = cpu::BinaryFn::Maximum;
  template <class T>
  T operator()(T x, T y) const {
    return x < y ? y : x;
  }
};

void gradient(GradContext& c) { set_extremum_grads(c, greater_equal(c.input(0), c.input(1))); }

}  // namespace

OpDef maximum_op() {
  return binary_op<Maximum, ModTypes>({.name = "Maximum", .attrs = kMaximumT, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output maximum(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Maximum", name).input(x).input(y).output();
}

}  // namespace weir
