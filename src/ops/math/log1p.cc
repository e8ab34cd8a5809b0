#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Log1p {
  static constexpr auto kTile = cpu::UnaryFn::Log1p;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return std::log(T(1) + x);
    } else {
      return std::log1p(x);
    }
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), x = conj(c.input(0));
  c.set_input_grad(0, dy * reciprocal(1 + x));
}

}  // namespace

OpDef log1p_op() { return unary_op<Log1p, FloatComplexTypes>("Log1p", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output log1p(const In& x, std::string_view name) { return NodeBuilder("Log1p", name).input(x).output(); }

}  // namespace weir
