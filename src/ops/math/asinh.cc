#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Asinh {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::asinh(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() / cosh(conj(c.output(0)))); }

}  // namespace

OpDef asinh_op() { return unary_op<Asinh, FloatComplexTypes>("Asinh", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output asinh(const In& x, std::string_view name) { return NodeBuilder("Asinh", name).input(x).output(); }

}  // namespace weir
