#include <cmath>

#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Acosh {
  static constexpr int64_t kGrain = 1024;
  template <class T>
  T operator()(T x) const {
    return std::acosh(x);
  }
};

void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad() / sinh(conj(c.output(0)))); }

}  // namespace

OpDef acosh_op() { return unary_op<Acosh, FloatComplexTypes>("Acosh", kFloatComplexT, gradient); }

}  // namespace weir::ops

namespace weir {

Output acosh(const In& x, std::string_view name) { return NodeBuilder("Acosh", name).input(x).output(); }

}  // namespace weir
