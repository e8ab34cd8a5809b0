#include <cmath>

#include "ops/math/grad_node.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Sqrt {
  static constexpr auto kTile = cpu::UnaryFn::Sqrt;
  static constexpr int64_t kGrain = 8192;
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, grad_node("SqrtGrad", c.output(0), c.output_grad())); }

}  // namespace

OpDef sqrt_op() { return unary_op<Sqrt, FloatComplexTypes>("Sqrt", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output sqrt(const In& x, std::string_view name) { return NodeBuilder("Sqrt", name).input(x).output(); }

}  // namespace weir
