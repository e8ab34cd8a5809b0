#include <cmath>

#include "ops/math/grad_node.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Sigmoid {
  static constexpr auto kTile = cpu::UnaryFn::Sigmoid;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, grad_node("SigmoidGrad", conj(c.output(0)), c.output_grad())); }

}  // namespace

OpDef sigmoid_op() { return unary_op<Sigmoid, FloatComplexTypes>("Sigmoid", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output sigmoid(const In& x, std::string_view name) { return NodeBuilder("Sigmoid", name).input(x).output(); }

}  // namespace weir
