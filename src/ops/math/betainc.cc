#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/incomplete_gamma.h"
#include "ops/types.h"
#include "weir/ops.h"
#include "weir/special_ops.h"

namespace weir::ops {
namespace {

// Arguments have one shape; scalars go with any.
void infer(InferContext& c) {
  Shape shape;
  bool known = true;
  for (int i = 0; i < 3; ++i) {
    const Shape& one = c.input(i);
    known = known && one.has_rank();
    if (!one.has_rank() || one.is_scalar()) continue;
    if (shape.is_scalar()) {
      shape = one;
    } else if (shape.compatible(one)) {
      shape = shape.merged(one);
    } else {
      throw invalid_argument("Shapes of {} and {} are inconsistent: {} vs. {}", "a, b", "x", shape.str(), one.str());
    }
  }
  c.set_output(0, known || !shape.is_scalar() ? shape : Shape::unknown());
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto at = [&](int input, int64_t i) { return c.input<T>(input)[c.shape(input).is_scalar() ? 0 : i]; };
    c.pool().parallel_for(c.output_elements(), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) c.output<T>()[i] = static_cast<T>(beta_of(at(0, i), at(1, i), at(2, i)));
    });
  }
};

// By x alone, as in TensorFlow: x^(a-1) (1-x)^(b-1) / B(a, b).
void gradient(GradContext& c) {
  Output a = c.input(0), b = c.input(1), x = c.input(2);
  Output log_beta = lgamma(a) + lgamma(b) - lgamma(a + b);
  Output slope = exp(xlogy(b - 1, 1 - x) + xlogy(a - 1, x) - log_beta);
  c.set_input_grad(2, reduce_to_shape_of(slope * c.output_grad(), x));
}

}  // namespace

OpDef betainc_op() {
  return {.name = "Betainc",
          .inputs = "a:T; b:T; x:T",
          .outputs = "z:T",
          .attrs = "T:type{float,double}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output betainc(const In& a, const In& b, const In& x, std::string_view name) {
  return NodeBuilder("Betainc", name).input(a).input(b).input(x).output();
}

}  // namespace weir
