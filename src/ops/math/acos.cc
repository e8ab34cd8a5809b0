#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Acos {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::acos(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  Output one = c.graph().constant(1, dy.dtype());
  c.set_input_grad(0, -dy * reciprocal(sqrt(subtract(one, square(x)))));
}

}  // namespace

OpDef acos_op() { return unary_op<Acos, FloatComplexTypes>("Acos", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output acos(const In& x, std::string_view name) { return NodeBuilder("Acos", name).input(x).output(); }

}  // namespace weir
