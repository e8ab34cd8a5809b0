#pragma once

#include <algorithm>
#include <string_view>

#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/math/narrow.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {

// TensorFlow's lists of types for unary operations.
inline constexpr std::string_view kFloatT = "T:type{bfloat16,half,float,double}";
inline constexpr std::string_view kFloatComplexT = "T:type{bfloat16,half,float,double,complex64,complex128}";
inline constexpr std::string_view kNumberT = "T:type{bfloat16,half,float,double,int32,int64,complex64,complex128}";

using FloatComplexTypes = decltype(FloatTypes{} + ComplexTypes{});
using SignedTypes = decltype(FloatTypes{} + Types<int32_t, int64_t>{} + ComplexTypes{});

// y[i] = F()(x[i]). F is a functor with a template over the element type; F::kTile names the float32 function of
// tile.h. half and bfloat16 are computed in float, tile by tile. x and y may be the same array.
template <class F, class T, class R>
void unary_row(const T* x, R* y, int64_t n) {
  if constexpr (kIsNarrowFloat<T>) {
    float wide[cpu::kTileFloats];
    for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
      int64_t m = std::min(cpu::kTileFloats, n - i);
      widen(x + i, wide, m);
      if constexpr (std::is_same_v<R, bool>) {
        unary_row<F>(wide, y + i, m);
      } else {
        unary_row<F>(wide, wide, m);
        narrow(wide, y + i, m);
      }
    }
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float> && requires { F::kTile; }) {
    cpu::unary_tile(F::kTile)(x, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = F()(x[i]);
  }
}

template <class F>
struct UnaryKernel {
  template <class T>
  static void run(KernelContext& c) {
    using R = Stored<T, decltype(F()(Wide<T>()))>;
    const T* x = c.input<T>(0);
    R* y = c.output<R>();
    c.pool().parallel_for(c.output_elements(), grain_of<F>(),
                          [&](int64_t begin, int64_t end) { unary_row<F>(x + begin, y + begin, end - begin); });
  }
};

// The row of an elementwise operation with one operand: `attrs` is TensorFlow's list of types, List those that have a
// kernel.
template <class F, class List>
OpDef unary_op(std::string_view name, std::string_view attrs, void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = attrs,
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = kernel_for<List, UnaryKernel<F>>, .in_place = 0b1},
          .elementwise = body_of<F>()};
}

// The same for a question about each element.
template <class F, class List>
OpDef predicate_op(std::string_view name, std::string_view attrs) {
  return {.name = name,
          .inputs = "x:T",
          .outputs = "y:bool",
          .attrs = attrs,
          .infer = infer::unchanged,
          .cpu = {.select = kernel_for<List, UnaryKernel<F>>},
          .elementwise = body_of<F>()};
}

}  // namespace weir::ops
