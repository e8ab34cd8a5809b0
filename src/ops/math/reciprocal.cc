#include "ops/math/grad_node.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Reciprocal {
  static constexpr auto kTile = cpu::UnaryFn::Reciprocal;
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, grad_node("ReciprocalGrad", c.output(0), c.output_grad())); }

}  // namespace

OpDef reciprocal_op() { return unary_op<Reciprocal, FloatComplexTypes>("Reciprocal", kNumberT, gradient); }

}  // namespace weir::ops

namespace weir {

Output reciprocal(const In& x, std::string_view name) { return NodeBuilder("Reciprocal", name).input(x).output(); }

}  // namespace weir
