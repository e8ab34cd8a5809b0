#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Atan {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::atan(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  Output one = c.graph().constant(1, dy.dtype());
  c.set_input_grad(0, dy * reciprocal(add(one, square(x))));
}

}  // namespace

OpDef atan_op() { return unary_op<Atan, FloatComplexTypes>("Atan", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output atan(const In& x, std::string_view name) { return NodeBuilder("Atan", name).input(x).output(); }

}  // namespace weir
