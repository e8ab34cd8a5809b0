#pragma once

#include <string_view>

#include "ops/math/binary.h"
#include "ops/math/unary.h"

namespace weir::ops {

template <class T>
T conjugate(T x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

// The row of an operation that takes the result y of a function and the gradient dy, of the same shape, to the gradient
// with respect to the function's argument.
template <class F>
OpDef activation_grad_op(std::string_view name, void (*gradient)(GradContext&)) {
  OpDef def = binary_op<F, FloatComplexTypes>(
      {.name = name, .attrs = kFloatComplexT, .gradient = gradient, .inputs = "y:T; dy:T"});
  def.infer = infer::merged;
  return def;
}

}  // namespace weir::ops
