#include "weir/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace weir {
namespace {

struct Row {
  DType dtype;
  std::string_view name, alias;
  size_t size;
};

constexpr Row kRows[] = {
    {DType::Float32, "float", "float32", 4},
    {DType::Float64, "double", "float64", 8},
    {DType::Int32, "int32", "int", 4},
    {DType::UInt8, "uint8", "", 1},
    {DType::Int16, "int16", "", 2},
    {DType::Int8, "int8", "", 1},
    {DType::String, "string", "str", sizeof(std::string)},
    {DType::Complex64, "complex64", "", 8},
    {DType::Int64, "int64", "", 8},
    {DType::Bool, "bool", "", 1},
    {DType::QInt8, "qint8", "", 1},
    {DType::QUInt8, "quint8", "", 1},
    {DType::QInt32, "qint32", "", 4},
    {DType::BFloat16, "bfloat16", "", 2},
    {DType::QInt16, "qint16", "", 2},
    {DType::QUInt16, "quint16", "", 2},
    {DType::UInt16, "uint16", "", 2},
    {DType::Complex128, "complex128", "", 16},
    {DType::Float16, "half", "float16", 2},
    {DType::Resource, "resource", "", sizeof(void*)},
    {DType::Variant, "variant", "", 0},
    {DType::UInt32, "uint32", "", 4},
    {DType::UInt64, "uint64", "", 8},
};

const Row* row(DType dtype) {
  auto number = static_cast<size_t>(dtype);
  return number >= 1 && number <= std::size(kRows) ? &kRows[number - 1] : nullptr;
}

float half_to_float(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 0x1f, mantissa = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // zero or denormal: the value is mantissa * 2^-24 exactly
    float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t float_to_half(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return sign | 0x7e00;   // NaN
  if (bits >= 0x477ff000u) return sign | 0x7c00;  // rounds to infinity
  if (bits < 0x38800000u) {                       // denormal half: let the adder round
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  uint32_t odd = (bits >> 13) & 1;
  return static_cast<uint16_t>(sign | ((bits - 0x38000000u + 0xfff + odd) >> 13));
}

}  // namespace

Half::Half(float value) : bits(float_to_half(value)) {}
Half::operator float() const { return half_to_float(bits); }

BFloat16::BFloat16(float value) {
  uint32_t raw = std::bit_cast<uint32_t>(value);
  bits = std::isnan(value) ? static_cast<uint16_t>(0x7fc0)
                           : static_cast<uint16_t>((raw + 0x7fff + ((raw >> 16) & 1)) >> 16);
}
BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

std::string_view dtype_name(DType dtype) {
  const Row* r = row(dtype);
  return r ? r->name : "invalid";
}

DType dtype_from_name(std::string_view name) {
  for (const Row& r : kRows) {
    if (name == r.name || (!r.alias.empty() && name == r.alias)) return r.dtype;
  }
  return DType::Invalid;
}

size_t dtype_size(DType dtype) {
  const Row* r = row(dtype);
  return r ? r->size : 0;
}

bool is_floating(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
}
bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }
bool is_integer(DType dtype) {
  switch (dtype) {
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
      return true;
    default:
      return false;
  }
}

}  // namespace weir
