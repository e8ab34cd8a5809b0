#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/linalg_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  Shape shape = c.input(0).merged(c.input(1));
  if (shape.has_rank()) shape.set_dim(-1, Shape{shape[-1]}.merged(Shape{3})[0]);
  c.set_output(0, shape);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    const T *a = c.input<T>(0), *b = c.input<T>(1);
    T* out = c.output<T>();
    auto minor = [](W p, W q, W r, W s) {
      return static_cast<T>(wrapping_sub(wrapping_mul(p, q), wrapping_mul(r, s)));
    };
    for (int64_t i = 0; i < c.output_elements(); i += 3) {
      const W x0 = a[i], x1 = a[i + 1], x2 = a[i + 2], y0 = b[i], y1 = b[i + 1], y2 = b[i + 2];
      out[i] = minor(x1, y2, x2, y1);
      out[i + 1] = minor(x2, y0, x0, y2);
      out[i + 2] = minor(x0, y1, x1, y0);
    }
  }
};

void gradient(GradContext& c) {
  c.set_input_grad(0, cross(c.input(1), c.output_grad()));
  c.set_input_grad(1, cross(c.output_grad(), c.input(0)));
}

}  // namespace

OpDef cross_op() {
  return {.name = "Cross",
          .inputs = "a:T; b:T",
          .outputs = "product:T",
          .attrs = "T:realnumbertype",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output cross(const In& a, const In& b, std::string_view name) {
  return NodeBuilder("Cross", name).input(a).input(b).output();
}

}  // namespace weir
