#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Cos {
  static constexpr auto kTile = cpu::UnaryFn::Cos;
  static constexpr int64_t kGrain = 4096;
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, -c.output_grad() * sin(conj(c.input(0)))); }

}  // namespace

OpDef cos_op() { return unary_op<Cos, FloatComplexTypes>("Cos", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output cos(const In& x, std::string_view name) { return NodeBuilder("Cos", name).input(x).output(); }

}  // namespace weir
