#include <cmath>

#include "ops/math/grad_node.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Rsqrt {
  static constexpr auto kTile = cpu::UnaryFn::Rsqrt;
  static constexpr int64_t kGrain = 8192;
  template <class T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, grad_node("RsqrtGrad", c.output(0), c.output_grad())); }

}  // namespace

OpDef rsqrt_op() { return unary_op<Rsqrt, FloatComplexTypes>("Rsqrt", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output rsqrt(const In& x, std::string_view name) { return NodeBuilder("Rsqrt", name).input(x).output(); }

}  // namespace weir
