#pragma once

#include <algorithm>
#include <string_view>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {

void infer_cumulate(InferContext& c);

struct CumulateState {
  bool exclusive, reverse;
};
CumulateState prepare_cumulate(PrepareContext& c);

// The input seen as [outer, n, inner], where n is the size along the axis that input 1 names.
struct CumulateShape {
  int64_t outer = 1, n = 1, inner = 1;
};
CumulateShape cumulate_shape(const KernelContext& c);

// y[i] = F(... F(F(F::kStart, x[0]), x[1]) ..., x[i]) along the axis.
template <class F>
struct CumulateKernel {
  template <class T>
  static void run(KernelContext& c) {
    using A = Wide<T>;
    const CumulateState& options = c.state<CumulateState>();
    const CumulateShape s = cumulate_shape(c);
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(s.n, 1));
    c.pool().parallel_for(s.outer * s.inner, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t first = line / s.inner * s.n * s.inner + line % s.inner;
        A sum = A(F::kStart);
        for (int64_t i = 0; i < s.n; ++i) {
          const int64_t at = first + (options.reverse ? s.n - 1 - i : i) * s.inner;
          const A next = F()(sum, static_cast<A>(x[at]));
          y[at] = static_cast<T>(options.exclusive ? sum : next);
          sum = next;
        }
      }
    });
  }
};

template <class F>
OpDef cumulate_op(std::string_view name, void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "x:T; axis:Tidx",
          .outputs = "out:T",
          .attrs = "exclusive:bool=False; reverse:bool=False; T:numbertype; Tidx:type{int32,int64}=int32",
          .host = "axis",
          .infer = infer_cumulate,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, CumulateKernel<F>>, .prepare = prepared<prepare_cumulate>}};
}

}  // namespace weir::ops
