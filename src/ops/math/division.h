#pragma once

#include "ops/math/binary.h"

namespace weir::ops {

// x / y, as Div, RealDiv and TruncateDiv all compute it: integers are truncated and cannot be divided by 0.
struct Division {
  static constexpr auto kTile = cpu::BinaryFn::Div;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_div(x, y);
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    check_divisor(c, y);
  }
};

}  // namespace weir::ops
