#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Square {
  static constexpr auto kTile = cpu::UnaryFn::Square;
  template <class T>
  T operator()(T x) const {
    return wrapping_mul(x, x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  Output two = c.graph().constant(2, x.dtype());
  c.set_input_grad(0, multiply(dy, multiply(x, two)));
}

}  // namespace

OpDef square_op() { return unary_op<Square, SignedTypes>("Square", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output square(const In& x, std::string_view name) { return NodeBuilder("Square", name).input(x).output(); }

}  // namespace weir
