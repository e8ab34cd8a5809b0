#pragma once

#include <cstdint>
#include <string>

#include "base/errors.h"
#include "weir/dtype.h"

namespace weir::ops {

struct Pair {
  uint64_t a, b;
};

// Calls f with a value of a type as wide as dtype's elements. Operations that move elements without looking at them
// need one function for all types of a size; strings are the exception.
template <class F>
void with_element_type(DType dtype, F&& f) {
  if (dtype == DType::String) return f(std::string());
  switch (dtype_size(dtype)) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    case 8:
      return f(uint64_t());
    case 16:
      return f(Pair());
    default:
      throw error(Code::Unimplemented, "elements of type {} cannot be moved", dtype_name(dtype));
  }
}

}  // namespace weir::ops
