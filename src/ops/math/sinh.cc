#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Sinh {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * cosh(conj(c.input(0)))); }

}  // namespace

OpDef sinh_op() { return unary_op<Sinh, FloatComplexTypes>("Sinh", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output sinh(const In& x, std::string_view name) { return NodeBuilder("Sinh", name).input(x).output(); }

}  // namespace weir
