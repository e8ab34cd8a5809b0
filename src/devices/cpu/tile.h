#pragma once

#include <stdint.h>

#include "graph/elementwise_fn.h"

namespace weir::cpu {

// Elementwise float32 functions. A single elementwise operation calls one of them over its array; a
// fused chain of operations calls one per instruction over tiles of kTileFloats, which stay in the first-level cache.
//
// An element's result depends on its operands only, never on its place in the array or the length of the call, so a
// result has the same bits however the work is cut. Truth values are 1.0f and 0.0f; any non-zero operand counts as
// true.
constexpr int64_t kTileFloats = 1024;

// Special values follow TensorFlow 1.15 on a CPU: Relu and Relu6 pass NaN on, Sign(NaN) is 0, Round and Rint take
// halves to even. Exp, Expm1, Log, Log1p, Erf, Sin, Cos stay within 2 ulp of the true value, Tanh, Sigmoid and Softplus
// within 4, denormal results included.
using weir::BinaryFn;
using weir::kBinaryFns;
using weir::kUnaryFns;
using weir::UnaryFn;

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

// The same for elements of any type of `size` bytes, 1, 2, 4 or 8, with a condition of bytes, 0 or 1. y may be the same
// array as an operand.
using SelectBytes = void (*)(const uint8_t* condition, const void* a, const void* b, void* y, int64_t n);
SelectBytes select_bytes(int64_t size, Operands operands);

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

// What a short run of elements becomes where it meets longer ones: of the endless array in which each element of x stands
// `run` times in a row, or in which the first `run` elements of x come again and again, the n elements from `skip` on.
void spread_elements(const float* x, int64_t run, int64_t skip, int64_t n, float* y);
void repeat_run(const float* x, int64_t run, int64_t skip, int64_t n, float* y);

}  // namespace weir::cpu
