#include "ops/math/complex_part.h"

namespace weir::ops {
namespace {

struct Imag {
  template <class T>
  T operator()(std::complex<T> x) const {
    return x.imag();
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad();
  c.set_input_grad(0, complex(c.graph().constant(0, dy.dtype()), dy));
}

}  // namespace

OpDef imag_op() { return complex_part_op<Imag>("Imag", gradient); }

}  // namespace weir::ops

namespace weir {

Output imag(const In& x, std::string_view name) { return ops::complex_part("Imag", x, name); }

}  // namespace weir
