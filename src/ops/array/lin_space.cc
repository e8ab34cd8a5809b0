#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"
#include "weir/index_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
  std::optional<int64_t> num = scalar_argument(c, 2);
  if (num && *num < 1) throw invalid_argument("Requires num > 0: {}", *num);
  c.set_output(0, Shape{num.value_or(kUnknown)});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.output_elements();
    const Wide<T> start = c.scalar<T>(0), stop = c.scalar<T>(1);
    const Wide<T> step = n > 1 ? (stop - start) / static_cast<Wide<T>>(n - 1) : 0;
    for (int64_t i = 0; i < n; ++i) c.output<T>()[i] = static_cast<T>(start + step * static_cast<Wide<T>>(i));
    if (n > 1) c.output<T>()[n - 1] = static_cast<T>(stop);  // exactly, whatever the steps add up to
  }
};

}  // namespace

OpDef lin_space_op() {
  return {.name = "LinSpace",
          .inputs = "start:T; stop:T; num:Tidx",
          .outputs = "output:T",
          .attrs = "T:type{bfloat16,float,double}; Tidx:type{int32,int64}=int32",
          .host = "num",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, double, BFloat16>, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output linspace(const In& start, const In& stop, const In& num, std::string_view name) {
  return NodeBuilder("LinSpace", name).input(start).input(stop).input(num).output();
}

}  // namespace weir
