#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Complex {
  template <class T>
  std::complex<T> operator()(T real, T imag) const {
    return {real, imag};
  }
  // Tout is the type whose parts are T.
  static ComputeFn select(const NodeView& node) {
    bool match = (node.type() == float32) == (node.type("Tout") == complex64);
    return match ? kernel_for<Types<float, double>, BinaryKernel<Complex>>(node) : nullptr;
  }
};

void gradient(GradContext& c) {
  Output dy = c.output_grad();
  auto [dreal, dimag] = reduce_broadcast(real(dy), c.input(0), imag(dy), c.input(1));
  c.set_input_grad(0, dreal);
  c.set_input_grad(1, dimag);
}

}  // namespace

OpDef complex_op() {
  return {.name = "Complex",
          .inputs = "real:T; imag:T",
          .outputs = "out:Tout",
          .attrs = "T:type{float,double}=float; Tout:type{complex64,complex128}=complex64",
          .infer = infer::broadcast_binary,
          .gradient = gradient,
          .cpu = {.select = Complex::select, .prepare = prepared<prepare_binary>}};
}

}  // namespace weir::ops

namespace weir {

Output complex(const In& real, const In& imag, std::string_view name) {
  const In& typed = real.output() ? real : imag;
  bool wide = typed.output() && typed.output().dtype() == float64;
  return NodeBuilder("Complex", name.empty() ? "Complex" : name)
      .input(real)
      .input(imag)
      .attr("Tout", wide ? complex128 : complex64)
      .output();
}

}  // namespace weir
