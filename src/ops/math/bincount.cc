#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"
#include "weir/index_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  std::optional<int64_t> size = scalar_argument(c, 1);
  if (size && *size < 0) throw invalid_argument("size ({}) must be non-negative", *size);
  c.set_output(0, Shape{size.value_or(kUnknown)});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.elements(0), size = c.output_elements();
    const bool weighted = c.elements(2) > 0;
    if (weighted && c.elements(2) != n) {
      throw invalid_argument("weights have {} elements; arr has {}", c.elements(2), n);
    }
    T* bins = c.output<T>();
    std::fill_n(bins, size, T(0));
    for (int64_t i = 0; i < n; ++i) {
      const int32_t bin = c.input<int32_t>(0)[i];
      if (bin < 0) throw invalid_argument("Input arr must be non-negative!");
      if (bin < size) bins[bin] = wrapping_add(bins[bin], weighted ? c.input<T>(2)[i] : T(1));
    }
  }
};

}  // namespace

OpDef bincount_op() {
  return {.name = "Bincount",
          .inputs = "arr:int32; size:int32; weights:T",
          .outputs = "bins:T",
          .attrs = "T:type{int32,int64,float,double}",
          .host = "size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t, float, double>, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output bincount(const In& arr, const In& size, const In& weights, std::string_view name) {
  return NodeBuilder("Bincount", name).input(arr).input(size).input(weights).output();
}

}  // namespace weir
