#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Cosh {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * sinh(conj(c.input(0)))); }

}  // namespace

OpDef cosh_op() { return unary_op<Cosh, FloatComplexTypes>("Cosh", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output cosh(const In& x, std::string_view name) { return NodeBuilder("Cosh", name).input(x).output(); }

}  // namespace weir
