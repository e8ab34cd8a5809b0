#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Neg {
  static constexpr auto kTile = cpu::UnaryFn::Neg;
  template <class T>
  T operator()(T x) const {
    return wrapping_sub(T(0), x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, -c.output_grad()); }

}  // namespace

OpDef neg_op() { return unary_op<Neg, SignedTypes>("Neg", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output negative(const In& x, std::string_view name) { return NodeBuilder("Neg", name).input(x).output(); }

Output operator-(const In& x) { return negative(x); }

}  // namespace weir
