#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/math/functors.h"
#include "ops/math/narrow.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {

// What a binary operation works out when its plan is made.
struct BinaryState {
  BroadcastPlan plan;
  cpu::Operands operands;                       // along a row
  std::optional<ElementwiseKernel> tiled = {};  // float32 with rows too short for a call each
};
BinaryState prepare_binary(PrepareContext& c);
// The same for an operation whose float32 function is `fn`.
BinaryState prepare_binary_fn(PrepareContext& c, cpu::BinaryFn fn);
template <class F>
BinaryState prepare_binary_for(PrepareContext& c) {
  if constexpr (requires { F::kTile; }) {
    return prepare_binary_fn(c, F::kTile);
  } else {
    return prepare_binary(c);
  }
}

// Gives the operands these gradients, which have the shape of the output, summed where an operand was stretched.
void set_broadcast_grads(GradContext& c, const Output& x_grad, const Output& y_grad);

// y[i] = F()(a[i], b[i]), where an operand that rests along the row gives its one element to all. F is a functor with a
// template over the element type; F::kTile names the float32 function of tile.h. half and bfloat16 are computed in
// float, tile by tile. y may be the same array as an operand that moves.
template <class F, class T, class R>
void binary_row(const T* a, const T* b, R* y, int64_t n, cpu::Operands operands) {
  const bool moves_a = operands != cpu::Operands::SV, moves_b = operands != cpu::Operands::VS;
  if constexpr (kIsNarrowFloat<T>) {
    float wide_a[cpu::kTileFloats], wide_b[cpu::kTileFloats];
    for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
      int64_t m = std::min(cpu::kTileFloats, n - i);
      widen(moves_a ? a + i : a, wide_a, moves_a ? m : 1);
      widen(moves_b ? b + i : b, wide_b, moves_b ? m : 1);
      if constexpr (std::is_same_v<R, bool>) {
        binary_row<F>(wide_a, wide_b, y + i, m, operands);
      } else {
        float* wide_y = moves_a ? wide_a : wide_b;
        binary_row<F>(wide_a, wide_b, wide_y, m, operands);
        narrow(wide_y, y + i, m);
      }
    }
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float> && requires { F::kTile; }) {
    cpu::binary_tile(F::kTile, operands)(a, b, y, n);
  } else if (moves_a && moves_b) {
    for (int64_t i = 0; i < n; ++i) y[i] = F()(a[i], b[i]);
  } else if (moves_a) {
    const T s = *b;
    for (int64_t i = 0; i < n; ++i) y[i] = F()(a[i], s);
  } else {
    const T s = *a;
    for (int64_t i = 0; i < n; ++i) y[i] = F()(s, b[i]);
  }
}

template <class F>
struct BinaryKernel {
  template <class T>
  static void run(KernelContext& c) {
    run<T>(c, c.state<BinaryState>());
  }
  template <class T>
  static void run(KernelContext& c, const BinaryState& s) {
    using R = Stored<T, decltype(F()(Wide<T>(), Wide<T>()))>;
    const T* a = c.input<T>(0);
    const T* b = c.input<T>(1);
    R* y = c.output<R>();
    // A functor that does not take every operand looks at them first.
    if constexpr (requires { F::check(c, b); }) F::check(c, b);
    auto each_piece = [&](auto row) {
      c.pool().parallel_for(s.plan.elements(), grain_of<F>(), [&](int64_t begin, int64_t end) {
        s.plan.for_each_piece(
            begin, end, [&](const int64_t* at, int64_t out, int64_t n) { row(a + at[0], b + at[1], y + out, n); });
      });
    };
    if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float> && requires { F::kTile; }) {
      if (s.tiled) {
        const float* inputs[] = {a, b};
        s.tiled->run(inputs, {&y, 1}, c.scratch(), c.pool());
      } else {
        each_piece(cpu::binary_tile(F::kTile, s.operands));
      }
    } else {
      each_piece([&](const T* pa, const T* pb, R* py, int64_t n) { binary_row<F>(pa, pb, py, n, s.operands); });
    }
  }
};

// Throws InvalidArgument when an integer divisor is 0 and would be used.
template <class T>
void check_divisor(const KernelContext& c, const T* divisor) {
  if constexpr (kIsInteger<T>) {
    if (c.output_elements() == 0) return;
    if (std::find(divisor, divisor + c.elements(1), T(0)) != divisor + c.elements(1))
      c.fail("Integer division by zero");
  }
}

// TensorFlow's lists of types for binary operations.
inline constexpr std::string_view kArithmeticT =
    "T:type{bfloat16,half,float,double,uint8,int8,uint16,int16,int32,int64,complex64,complex128}";
inline constexpr std::string_view kModT = "T:type{int32,int64,bfloat16,half,float,double}";
inline constexpr std::string_view kMaximumT = "T:type{bfloat16,half,float,double,int32,int64}";
inline constexpr std::string_view kNoNanT = "T:type{half,float,double,complex64,complex128}";
inline constexpr std::string_view kOrderT =
    "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64}";

using SmallIntTypes = Types<uint8_t, int8_t, uint16_t, int16_t, int32_t, int64_t>;
using ArithmeticTypes = decltype(FloatTypes{} + SmallIntTypes{} + ComplexTypes{});
using ModTypes = decltype(FloatTypes{} + Types<int32_t, int64_t>{});
using NoNanTypes = decltype(Types<float, double, Half>{} + ComplexTypes{});

struct BinarySpec {
  std::string_view name, attrs, flags = "";
  void (*gradient)(GradContext&) = nullptr;
  std::string_view inputs = "x:T; y:T";
};

// The row of an elementwise operation with two operands that broadcast: `spec.attrs` is TensorFlow's list of types,
// List those that have a kernel.
template <class F, class List>
OpDef binary_op(const BinarySpec& spec) {
  return {.name = spec.name,
          .inputs = spec.inputs,
          .outputs = "z:T",
          .attrs = spec.attrs,
          .flags = spec.flags,
          .infer = infer::broadcast_binary,
          .gradient = spec.gradient,
          .cpu = {.select = kernel_for<List, BinaryKernel<F>>,
                  .prepare = prepared<prepare_binary_for<F>>,
                  .in_place = 0b11},
          .elementwise = body_of<F>()};
}

// The same for a comparison.
template <class F, class List>
OpDef comparison_op(const BinarySpec& spec) {
  OpDef def = binary_op<F, List>(spec);
  def.outputs = "z:bool";
  def.gradient = not_differentiable;
  def.cpu.in_place = 0;  // bool and the operands' type differ in size
  return def;
}

}  // namespace weir::ops
