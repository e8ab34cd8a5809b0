#include "ops/math/extremum.h"

namespace weir::ops {
namespace {

struct Minimum {
  static constexpr auto kTile = cpu::BinaryFn::Minimum;
  template <class T>
  T operator()(T x, T y) const {
    return y < x ? y : x;
  }
};

void gradient(GradContext& c) { set_extremum_grads(c, less_equal(c.input(0), c.input(1))); }

}  // namespace

OpDef minimum_op() {
  return binary_op<Minimum, ModTypes>({.name = "Minimum", .attrs = kMaximumT, .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output minimum(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Minimum", name).input(x).input(y).output();
}

}  // namespace weir
