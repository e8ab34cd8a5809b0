#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Tan {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};

void gradient(GradContext& c) {
  Output secant = reciprocal(cos(conj(c.input(0))));
  c.set_input_grad(0, square(secant) * c.output_grad());
}

}  // namespace

OpDef tan_op() { return unary_op<Tan, FloatComplexTypes>("Tan", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output tan(const In& x, std::string_view name) { return NodeBuilder("Tan", name).input(x).output(); }

}  // namespace weir
