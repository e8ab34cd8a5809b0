#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Atanh {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  Output one = c.graph().constant(1, dy.dtype());
  c.set_input_grad(0, dy * reciprocal(subtract(one, square(x))));
}

}  // namespace

OpDef atanh_op() { return unary_op<Atanh, FloatComplexTypes>("Atanh", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output atanh(const In& x, std::string_view name) { return NodeBuilder("Atanh", name).input(x).output(); }

}  // namespace weir
