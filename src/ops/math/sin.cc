#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Sin {
  static constexpr auto kTile = cpu::UnaryFn::Sin;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * cos(conj(c.input(0)))); }

}  // namespace

OpDef sin_op() { return unary_op<Sin, FloatComplexTypes>("Sin", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output sin(const In& x, std::string_view name) { return NodeBuilder("Sin", name).input(x).output(); }

}  // namespace weir
