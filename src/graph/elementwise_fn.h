#pragma once

#include <stdint.h>

namespace weir {

// The vocabulary of elementwise functions and reductions: what rows say of an operation (ElementwiseBody and LoopPart
// in op_def.h), what fused programs are made of, and what a device has code for. devices/cpu/tile.h has the CPU's, and
// says how exact they are.

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

// What reductions make of many elements. Max and Min pass over NaN, as TensorFlow on a CPU does. Of nothing: Sum 0,
// Mean NaN, Max -inf, Min inf, Prod 1.
enum class ReduceFn : uint8_t { Sum, Mean, Max, Min, Prod, SumSquares };

}  // namespace weir
