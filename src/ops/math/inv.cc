#include "ops/math/grad_node.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

// Reciprocal under its old name.
struct Inv {
  static constexpr auto kTile = cpu::UnaryFn::Reciprocal;
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, grad_node("ReciprocalGrad", c.output(0), c.output_grad())); }

}  // namespace

OpDef inv_op() { return unary_op<Inv, FloatComplexTypes>("Inv", kNumberT, gradient); }

}  // namespace weir::ops
