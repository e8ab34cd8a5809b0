#include <cmath>
#include <numbers>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Erf {
  static constexpr auto kTile = cpu::UnaryFn::Erf;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::erf(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = c.input(0);
  Output two_over_root_pi = c.graph().constant(2 * std::numbers::inv_sqrtpi, dy.dtype());
  c.set_input_grad(0, dy * two_over_root_pi * exp(-square(x)));
}

}  // namespace

OpDef erf_op() { return unary_op<Erf, FloatTypes>("Erf", kFloatT, gradient); }

}  // namespace weir::ops

namespace weir {

Output erf(const In& x, std::string_view name) { return NodeBuilder("Erf", name).input(x).output(); }

}  // namespace weir
