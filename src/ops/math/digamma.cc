#include "ops/math/special.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Digamma {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(digamma_of(x));
  }
};

void gradient(GradContext& c) {
  Output x = c.input(0);
  Output order = c.graph().constant(Literal(1), x.dtype());
  c.set_input_grad(0, c.output_grad() * NodeBuilder("Polygamma").input(order).input(x).output());
}

}  // namespace

OpDef digamma_op() { return unary_op<Digamma, FloatTypes>("Digamma", kFloatT, gradient); }

}  // namespace weir::ops

namespace weir {

Output digamma(const In& x, std::string_view name) { return NodeBuilder("Digamma", name).input(x).output(); }

}  // namespace weir
