#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Expm1 {
  static constexpr auto kTile = cpu::UnaryFn::Expm1;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return std::exp(x) - T(1);
    } else {
      return std::expm1(x);
    }
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), y = exp(conj(c.input(0)));
  c.set_input_grad(0, dy * y);
}

}  // namespace

OpDef expm1_op() { return unary_op<Expm1, FloatComplexTypes>("Expm1", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output expm1(const In& x, std::string_view name) { return NodeBuilder("Expm1", name).input(x).output(); }

}  // namespace weir
