#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Asin {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::asin(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  Output one = c.graph().constant(1, dy.dtype());
  c.set_input_grad(0, dy * reciprocal(sqrt(subtract(one, square(x)))));
}

}  // namespace

OpDef asin_op() { return unary_op<Asin, FloatComplexTypes>("Asin", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output asin(const In& x, std::string_view name) { return NodeBuilder("Asin", name).input(x).output(); }

}  // namespace weir
