#include <cmath>
#include <numbers>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Erfc {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::erfc(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = c.input(0);
  Output minus_two_over_root_pi = c.graph().constant(-2 * std::numbers::inv_sqrtpi, dy.dtype());
  c.set_input_grad(0, dy * minus_two_over_root_pi * exp(-square(x)));
}

}  // namespace

OpDef erfc_op() { return unary_op<Erfc, FloatTypes>("Erfc", kFloatT, gradient); }

}  // namespace weir::ops

namespace weir {

Output erfc(const In& x, std::string_view name) { return NodeBuilder("Erfc", name).input(x).output(); }

}  // namespace weir
