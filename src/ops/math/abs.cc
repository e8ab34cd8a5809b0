#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Abs {
  static constexpr auto kTile = cpu::UnaryFn::Abs;
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsInteger<T>) {
      return x < 0 ? wrapping_sub(T(0), x) : x;
    } else {
      return std::abs(x);
    }
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() * sign(c.input(0))); }

}  // namespace

OpDef abs_op() {
  using List = decltype(FloatTypes{} + Types<int8_t, int16_t, int32_t, int64_t>{});
  return unary_op<Abs, List>("Abs", "T:type{bfloat16,half,float,double,int8,int16,int32,int64}", gradient);
}

}  // namespace weir::ops

namespace weir {

Output abs(const In& x, std::string_view name) {
  if (!x.output() || !is_complex(x.output().dtype())) return NodeBuilder("Abs", name).input(x).output();
  DType part = x.output().dtype() == complex64 ? float32 : float64;
  return NodeBuilder("ComplexAbs", name.empty() ? "Abs" : name).input(x).attr("Tout", part).output();
}

}  // namespace weir
