#include "ops/math/complex_part.h"

namespace weir::ops {
namespace {

struct Angle {
  static constexpr int64_t kGrain = 2048;
  template <class T>
  T operator()(std::complex<T> x) const {
    return std::arg(x);
  }
};

// d angle = (re d im - im d re) / |x|^2, as a complex number with TensorFlow's sign.
void gradient(GradContext& c) {
  Output x = c.input(0), grad = c.output_grad();
  Output re = NodeBuilder("Real").input(x).attr("Tout", grad.dtype()).output();
  Output im = NodeBuilder("Imag").input(x).attr("Tout", grad.dtype()).output();
  Output z = reciprocal(complex(im, re)), zero = zeros_like(grad);
  c.set_input_grad(0, -complex(grad, zero) * z);
}

}  // namespace

OpDef angle_op() { return complex_part_op<Angle>("Angle", gradient); }

}  // namespace weir::ops
