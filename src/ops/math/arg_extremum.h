#pragma once

#include <string_view>

#include "devices/cpu/reduce.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {

void infer_arg_extremum(InferContext& c);
// The input seen as [outer, axis, inner], where the axis is input 1.
cpu::ReduceShape arg_shape(const KernelContext& c);
// Writes indices as the output's type.
void store_indices(KernelContext& c, const int64_t* indices);

struct ArgState {
  bool is_int64;
};
ArgState prepare_arg_extremum(PrepareContext& c);

// F::better(a, b): whether an element a wins over the b that stands before it.
template <class F>
struct ArgKernel {
  template <class T>
  static void run(KernelContext& c) {
    const cpu::ReduceShape s = arg_shape(c);
    const T* x = c.input<T>(0);
    const bool is_int64 = c.state<ArgState>().is_int64;
    int64_t* y = is_int64 ? c.output<int64_t>() : static_cast<int64_t*>(c.scratch());
    if constexpr (std::is_same_v<T, float>) {
      cpu::arg_reduce(F::kFn, x, s, y, c.pool());
    } else {
      for (int64_t o = 0; o < s.outer; ++o) {
        for (int64_t i = 0; i < s.inner; ++i) {
          const T* first = x + o * s.reduced * s.inner + i;
          int64_t best = 0;
          for (int64_t r = 1; r < s.reduced; ++r) {
            if (F::better(first[r * s.inner], first[best * s.inner])) best = r;
          }
          y[o * s.inner + i] = best;
        }
      }
    }
    if (!is_int64) store_indices(c, y);
  }
};

template <class F>
OpDef arg_extremum_op(std::string_view name) {
  return {.name = name,
          .inputs = "input:T; dimension:Tidx",
          .outputs = "output:output_type",
          .attrs = "T:numbertype; Tidx:type{int32,int64}=int32; output_type:type{int32,int64}=int64",
          .host = "dimension",
          .infer = infer_arg_extremum,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<RealTypes, ArgKernel<F>>, .prepare = prepared<prepare_arg_extremum>}};
}

}  // namespace weir::ops
