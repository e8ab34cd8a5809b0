#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

struct All {
  template <class T>
  static bool start() {
    return true;
  }
  static bool step(bool sum, bool x) { return sum && x; }
  template <class T>
  static bool finish(bool sum, int64_t) {
    return sum;
  }
};

}  // namespace

OpDef all_op() {
  return {.name = "All",
          .inputs = "input:bool; reduction_indices:Tidx",
          .outputs = "output:bool",
          .attrs = "keep_dims:bool=False; Tidx:type{int32,int64}=int32",
          .host = "reduction_indices",
          .infer = infer_reduction,
          .cpu = {.select = kernel_any<ReductionKernel<All>::run<bool>>, .prepare = prepared<prepare_reduction>}};
}

}  // namespace weir::ops
