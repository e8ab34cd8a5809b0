#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "weir/export.h"

namespace weir {

// Element types with TensorFlow's numbers. The reference types of TensorFlow (number + 100) are not values of this
// enumeration: that an output is a reference is a fact about the operation's signature.
enum class DType : int32_t {
  Invalid = 0,
  Float32 = 1,
  Float64 = 2,
  Int32 = 3,
  UInt8 = 4,
  Int16 = 5,
  Int8 = 6,
  String = 7,
  Complex64 = 8,
  Int64 = 9,
  Bool = 10,
  QInt8 = 11,
  QUInt8 = 12,
  QInt32 = 13,
  BFloat16 = 14,
  QInt16 = 15,
  QUInt16 = 16,
  UInt16 = 17,
  Complex128 = 18,
  Float16 = 19,
  Resource = 20,
  Variant = 21,
  UInt32 = 22,
  UInt64 = 23,
};

inline constexpr DType float16 = DType::Float16, bfloat16 = DType::BFloat16, float32 = DType::Float32,
                       float64 = DType::Float64, int8 = DType::Int8, int16 = DType::Int16, int32 = DType::Int32,
                       int64 = DType::Int64, uint8 = DType::UInt8, uint16 = DType::UInt16, uint32 = DType::UInt32,
                       uint64 = DType::UInt64, boolean = DType::Bool, complex64 = DType::Complex64,
                       complex128 = DType::Complex128, string = DType::String;

// IEEE half precision. Arithmetic happens in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  WEIR_API explicit Half(float value);
  WEIR_API operator float() const;  // NOLINT: a half is a float with fewer bits
};

// The upper half of a float; conversion rounds to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  WEIR_API explicit BFloat16(float value);
  WEIR_API operator float() const;  // NOLINT
};

// TensorFlow's names: "float", "half", "int32", "resource", ...; "invalid" for unknown numbers.
WEIR_API std::string_view dtype_name(DType dtype);
// The same names, and numpy's ("float32", "float16", "float64"); DType::Invalid when unknown.
WEIR_API DType dtype_from_name(std::string_view name);
// Bytes of one element in memory; 0 for Invalid and Variant.
WEIR_API size_t dtype_size(DType dtype);

WEIR_API bool is_floating(DType dtype);  // half, bfloat16, float, double
WEIR_API bool is_complex(DType dtype);
WEIR_API bool is_integer(DType dtype);  // without bool and the quantised types

template <class T>
inline constexpr DType dtype_of = DType::Invalid;
template <>
inline constexpr DType dtype_of<float> = DType::Float32;
template <>
inline constexpr DType dtype_of<double> = DType::Float64;
template <>
inline constexpr DType dtype_of<Half> = DType::Float16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::BFloat16;
template <>
inline constexpr DType dtype_of<int8_t> = DType::Int8;
template <>
inline constexpr DType dtype_of<int16_t> = DType::Int16;
template <>
inline constexpr DType dtype_of<int32_t> = DType::Int32;
template <>
inline constexpr DType dtype_of<int64_t> = DType::Int64;
template <>
inline constexpr DType dtype_of<uint8_t> = DType::UInt8;
template <>
inline constexpr DType dtype_of<uint16_t> = DType::UInt16;
template <>
inline constexpr DType dtype_of<uint32_t> = DType::UInt32;
template <>
inline constexpr DType dtype_of<uint64_t> = DType::UInt64;
template <>
inline constexpr DType dtype_of<bool> = DType::Bool;
template <>
inline constexpr DType dtype_of<std::complex<float>> = DType::Complex64;
template <>
inline constexpr DType dtype_of<std::complex<double>> = DType::Complex128;
template <>
inline constexpr DType dtype_of<std::string> = DType::String;

}  // namespace weir
