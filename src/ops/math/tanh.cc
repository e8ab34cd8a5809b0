#include <cmath>

#include "ops/math/grad_node.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Tanh {
  static constexpr auto kTile = cpu::UnaryFn::Tanh;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, grad_node("TanhGrad", conj(c.output(0)), c.output_grad())); }

}  // namespace

OpDef tanh_op() { return unary_op<Tanh, FloatComplexTypes>("Tanh", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output tanh(const In& x, std::string_view name) { return NodeBuilder("Tanh", name).input(x).output(); }

}  // namespace weir
