#include "ops/math/complex_part.h"

namespace weir::ops {
namespace {

struct ComplexAbs {
  template <class T>
  T operator()(std::complex<T> x) const {
    return std::abs(x);
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad(), y = c.output(0);
  c.set_input_grad(0, div_no_nan(complex(dy, zeros_like(dy)) * c.input(0), complex(y, zeros_like(y))));
}

}  // namespace

OpDef complex_abs_op() {
  OpDef def = complex_part_op<ComplexAbs>("ComplexAbs", gradient);
  def.inputs = "x:T";
  def.outputs = "y:Tout";
  return def;
}

}  // namespace weir::ops
