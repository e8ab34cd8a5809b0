#include <algorithm>
#include <cmath>

#include "ops/math/binary.h"
#include "ops/math/unary.h"

namespace weir::ops {
namespace {

struct Pow {
  static constexpr auto kTile = cpu::BinaryFn::Pow;
  static constexpr int64_t kGrain = 2048;
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (kIsInteger<T>) {
      T result = 1;
      for (; y > 0; y = static_cast<T>(y >> 1)) {
        if (y & 1) result = wrapping_mul(result, x);
        x = wrapping_mul(x, x);
      }
      return result;
    } else {
      return std::pow(x, y);
    }
  }
  template <class T>
  static void check(const KernelContext& c, const T* y) {
    if constexpr (kIsInteger<T>) {
      if (c.output_elements() > 0 && std::any_of(y, y + c.elements(1), [](T v) { return v < 0; })) {
        c.fail("Integers to negative integer powers are not allowed");
      }
    }
  }
};

void gradient(GradContext& c) {
  Output dz = c.output_grad(), z = conj(c.output(0)), x = conj(c.input(0)), y = conj(c.input(1));
  Output x_grad = dz * y * pow(x, y - 1);
  // log(x) only where it exists; elsewhere it would poison the gradient with NaN although y is often constant.
  Output mask = is_complex(x.dtype()) ? not_equal(x, 0) : x > 0;
  Output safe_x = where(mask, x, ones_like(x));
  Output log_x = where(mask, log(safe_x), zeros_like(x));
  set_broadcast_grads(c, x_grad, dz * z * log_x);
}

}  // namespace

OpDef pow_op() {
  return binary_op<Pow, SignedTypes>({.name = "Pow",
                                      .attrs = "T:type{bfloat16,float,half,double,int32,int64,complex64,complex128}",
                                      .gradient = gradient});
}

}  // namespace weir::ops

namespace weir {

Output pow(const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Pow", name).input(x).input(y).output();
}

}  // namespace weir
