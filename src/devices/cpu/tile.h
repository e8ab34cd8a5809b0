#pragma once

#include <stdint.h>

namespace weir::cpu {

// The vocabulary of elementwise float32 functions. A single elementwise operation calls one of them over its array; a
// fused chain of operations calls one per instruction over tiles of kTileFloats, which stay in the first-level cache.
//
// An element's result depends on its operands only, never on its place in the array or the length of the call, so a
// result has the same bits however the work is cut. Truth values are 1.0f and 0.0f; any non-zero operand counts as
// true.
constexpr int64_t kTileFloats = 1024;

// Special values follow TensorFlow 1.15 on a CPU: Relu and Relu6 pass NaN on, Sign(NaN) is 0, Round and Rint take
// halves to even. Exp, Expm1, Log, Log1p, Erf, Sin, Cos stay within 2 ulp of the true value, Tanh, Sigmoid and Softplus
// within 4, denormal results included.
// clang-format off
enum class UnaryFn : uint8_t {
  Identity, Neg, Abs, Sign, Square, Sqrt, Rsqrt, Reciprocal,
  Exp, Expm1, Log, Log1p, Sin, Cos, Erf, Tanh, Sigmoid,
  Relu, Relu6, Elu, Selu, Softplus, Softsign,
  Floor, Ceil, Round,
  LogicalNot, IsNan, IsInf, IsFinite,
};
constexpr int kUnaryFns = static_cast<int>(UnaryFn::IsFinite) + 1;

// Maximum and Minimum give their first operand when either is NaN. DivNoNan is 0 where the divisor is 0. FloorMod has
// the sign of its divisor. Gradient helpers take their operands in the order of TensorFlow's operation of that name:
// (y, dy) for Tanh, Sigmoid, Sqrt, Rsqrt and Reciprocal, (dy, x) for Relu, Relu6, Softplus and Softsign, (dy, y) for Elu
// and Selu.
enum class BinaryFn : uint8_t {
  Add, Sub, Mul, Div, DivNoNan, FloorDiv, FloorMod, Maximum, Minimum, Pow, SquaredDifference, Atan2,
  Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, LogicalAnd, LogicalOr,
  TanhGrad, SigmoidGrad, SqrtGrad, RsqrtGrad, ReciprocalGrad,
  ReluGrad, Relu6Grad, EluGrad, SeluGrad, SoftplusGrad, SoftsignGrad,
};
// clang-format on
constexpr int kBinaryFns = static_cast<int>(BinaryFn::SoftsignGrad) + 1;

// Which of two operands are arrays (V) and which a single float (S) that meets every element of the other.
enum class Operands : uint8_t { VV, VS, SV };
constexpr int kOperandKinds = 3;

// y may be the same array as an operand; otherwise arrays do not overlap. n may be 0. No alignment is required.
using UnaryTile = void (*)(const float* x, float* y, int64_t n);
using BinaryTile = void (*)(const float* a, const float* b, float* y, int64_t n);
// y = condition ? a : b
using SelectTile = void (*)(const float* condition, const float* a, const float* b, float* y, int64_t n);

// The function for this machine's instruction set. Thread-safe; cheap, but worth keeping outside a loop.
UnaryTile unary_tile(UnaryFn fn);
BinaryTile binary_tile(BinaryFn fn, Operands operands);
SelectTile select_tile(Operands operands);

// Conversions. half and bfloat16 are given as their bits. To a narrower floating type rounds to nearest, halves to
// even; NaN stays NaN. To an integer truncates; a value that int32 (int64) cannot hold becomes its least value, and
// uint8 gets the low byte of the int32. To bool: is it different from 0 (NaN is). bool is a byte, 0 or 1.
void half_to_float(const uint16_t* x, float* y, int64_t n);
void float_to_half(const float* x, uint16_t* y, int64_t n);
void bfloat16_to_float(const uint16_t* x, float* y, int64_t n);
void float_to_bfloat16(const float* x, uint16_t* y, int64_t n);
void int32_to_float(const int32_t* x, float* y, int64_t n);
void float_to_int32(const float* x, int32_t* y, int64_t n);
void int64_to_float(const int64_t* x, float* y, int64_t n);
void float_to_int64(const float* x, int64_t* y, int64_t n);
void uint8_to_float(const uint8_t* x, float* y, int64_t n);
void float_to_uint8(const float* x, uint8_t* y, int64_t n);
void bool_to_float(const uint8_t* x, float* y, int64_t n);
void float_to_bool(const float* x, uint8_t* y, int64_t n);

}  // namespace weir::cpu
