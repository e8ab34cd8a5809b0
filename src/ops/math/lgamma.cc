#include <math.h>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

// lgamma_r, since lgamma writes to a global variable.
struct Lgamma {
  static constexpr int64_t kGrain = 1024;
  int sign = 0;
  float operator()(float x) { return ::lgammaf_r(x, &sign); }
  double operator()(double x) { return ::lgamma_r(x, &sign); }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * digamma(c.input(0))); }

}  // namespace

OpDef lgamma_op() { return unary_op<Lgamma, FloatTypes>("Lgamma", kFloatT, gradient); }

}  // namespace weir::ops

namespace weir {

Output lgamma(const In& x, std::string_view name) { return NodeBuilder("Lgamma", name).input(x).output(); }

}  // namespace weir
