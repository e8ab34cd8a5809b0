#include "ops/math/complex_part.h"

namespace weir::ops {
namespace {

struct Real {
  template <class T>
  T operator()(std::complex<T> x) const {
    return x.real();
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad();
  c.set_input_grad(0, complex(dy, c.graph().constant(0, dy.dtype())));
}

}  // namespace

OpDef real_op() { return complex_part_op<Real>("Real", gradient); }

}  // namespace weir::ops

namespace weir {

Output real(const In& x, std::string_view name) {
  if (x.output() && !is_complex(x.output().dtype())) return x.output();
  return ops::complex_part("Real", x, name);
}

}  // namespace weir
