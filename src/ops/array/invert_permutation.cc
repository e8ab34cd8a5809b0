#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  c.set_output(0, c.input(0).has_rank() ? c.input(0) : Shape{kUnknown});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    int64_t n = c.elements(0);
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    std::fill_n(y, n, T(-1));
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] < 0 || x[i] >= n) throw invalid_argument("{} is not between 0 and {}", x[i], n);
      if (y[x[i]] != -1) throw invalid_argument("{} is duplicated in the input.", x[i]);
      y[x[i]] = static_cast<T>(i);
    }
  }
};

}  // namespace

OpDef invert_permutation_op() {
  return {.name = "InvertPermutation",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = "T:type{int32,int64}=int32",
          .host = "x, y",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output invert_permutation(const In& x, std::string_view name) {
  return NodeBuilder("InvertPermutation", name).input(x).output();
}

}  // namespace weir
