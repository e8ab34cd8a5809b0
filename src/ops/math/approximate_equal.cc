#include <cmath>

#include "base/errors.h"
#include "ops/math/binary.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (!c.input(0).compatible(c.input(1))) {
    throw invalid_argument("x and y must be of the same shape; they have {} and {}", c.input(0).str(),
                           c.input(1).str());
  }
  infer::merged(c);
}

float prepare(PrepareContext& c) { return c.attr<float>("tolerance"); }

template <class T>
auto distance(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return std::abs(a - b);
  } else if constexpr (std::is_unsigned_v<T>) {
    return a < b ? static_cast<T>(b - a) : static_cast<T>(a - b);
  } else if constexpr (kIsInteger<T>) {
    return static_cast<double>(a) - static_cast<double>(b) < 0 ? wrapping_sub(b, a) : wrapping_sub(a, b);
  } else {
    return std::abs(a - b);
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const float tolerance = c.state<float>();
    const T* x = c.input<T>(0);
    const T* y = c.input<T>(1);
    bool* z = c.output<bool>();
    c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto apart = distance(static_cast<Wide<T>>(x[i]), static_cast<Wide<T>>(y[i]));
        // The tolerance is taken in the elements' own type, as TensorFlow does.
        z[i] = apart < static_cast<decltype(apart)>(tolerance);
      }
    });
  }
};

}  // namespace

OpDef approximate_equal_op() {
  return {.name = "ApproximateEqual",
          .inputs = "x:T; y:T",
          .outputs = "z:bool",
          .attrs = "T:numbertype; tolerance:float=9.999999747378752e-06",
          .flags = "commutative",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
