#include "collectives/scaling.h"

#include <cstring>

#include "base/errors.h"

namespace weir::collectives {
namespace {

template <class T>
void widen(const void* from, void* to, size_t count) {
  const T* x = static_cast<const T*>(from);
  float* y = static_cast<float*>(to);
  for (size_t i = 0; i < count; ++i) y[i] = static_cast<float>(x[i]);
}

template <class T>
void narrow(const void* from, void* to, size_t count) {
  const float* x = static_cast<const float*>(from);
  T* y = static_cast<T*>(to);
  for (size_t i = 0; i < count; ++i) y[i] = T(x[i]);
}

template <class T>
void multiply(void* data, size_t count, T factor) {
  T* x = static_cast<T*>(data);
  for (size_t i = 0; i < count; ++i) x[i] *= factor;
}

}  // namespace

bool is_transported(DType dtype) { return dtype != DType::Float16 && dtype != DType::BFloat16; }

Element element_of(DType dtype) {
  switch (dtype) {
    case DType::Int8:
      return Element::Int8;
    case DType::UInt8:
      return Element::UInt8;
    case DType::Int16:
      return Element::Int16;
    case DType::UInt16:
      return Element::UInt16;
    case DType::Int32:
      return Element::Int32;
    case DType::UInt32:
      return Element::UInt32;
    case DType::Int64:
      return Element::Int64;
    case DType::UInt64:
      return Element::UInt64;
    case DType::Float32:
      return Element::Float32;
    case DType::Float64:
      return Element::Float64;
    default:
      throw error(Code::Unimplemented, "tensors of type {} cannot be reduced over processes", dtype_name(dtype));
  }
}

void to_wire(DType dtype, const void* from, void* to, size_t count) {
  if (dtype == DType::Float16) {
    widen<Half>(from, to, count);
  } else if (dtype == DType::BFloat16) {
    widen<BFloat16>(from, to, count);
  } else if (count > 0) {
    std::memcpy(to, from, count * dtype_size(dtype));
  }
}

void from_wire(DType dtype, const void* from, void* to, size_t count) {
  if (dtype == DType::Float16) {
    narrow<Half>(from, to, count);
  } else if (dtype == DType::BFloat16) {
    narrow<BFloat16>(from, to, count);
  } else if (count > 0) {
    std::memcpy(to, from, count * dtype_size(dtype));
  }
}

void scale(DType dtype, void* data, size_t count, double factor) {
  if (dtype == DType::Float32) multiply(data, count, static_cast<float>(factor));
  if (dtype == DType::Float64) multiply(data, count, factor);
}

}  // namespace weir::collectives
