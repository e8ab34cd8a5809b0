#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Exp {
  static constexpr auto kTile = cpu::UnaryFn::Exp;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * conj(c.output(0))); }

}  // namespace

OpDef exp_op() { return unary_op<Exp, FloatComplexTypes>("Exp", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output exp(const In& x, std::string_view name) { return NodeBuilder("Exp", name).input(x).output(); }

}  // namespace weir
