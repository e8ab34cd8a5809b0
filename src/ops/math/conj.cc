#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Conj {
  template <class T>
  T operator()(T x) const {
    return std::conj(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, conj(c.output_grad())); }

}  // namespace

OpDef conj_op() {
  OpDef def = unary_op<Conj, ComplexTypes>("Conj", "T:type{complex64,complex128,variant}=complex64", gradient);
  def.inputs = "input:T";
  def.outputs = "output:T";
  return def;
}

}  // namespace weir::ops

namespace weir {

Output conj(const In& x, std::string_view name) {
  if (x.output() && !is_complex(x.output().dtype())) return x.output();
  return NodeBuilder("Conj", name).input(x).output();
}

}  // namespace weir
