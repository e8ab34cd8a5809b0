#include <cmath>

#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

// The root of the sum of the squares of what is reduced, conjugates with complex numbers.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const ReductionPlan plan(c);
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    const int64_t results = c.output_elements();
    auto* sums = static_cast<double*>(c.scratch());
    std::fill_n(sums, results, 0.0);
    // Nothing is reduced: TensorFlow gives the elements as they are, signs included.
    if (plan.keeps_all()) {
      std::copy_n(x, results, y);
      return;
    }
    if (c.elements(0) > 0) {
      plan.for_each_row([&](int64_t from, int64_t to, int64_t n) {
        const bool inner = plan.inner_is_reduced();
        for (int64_t i = 0; i < n; ++i) sums[inner ? to : to + i] += squared(x[from + i]);
      });
    }
    for (int64_t i = 0; i < results; ++i) y[i] = stored<T>(std::sqrt(sums[i]));
  }

 private:
  template <class T>
  static double squared(T value) {
    if constexpr (kIsComplex<T>) {
      return static_cast<double>(value.real()) * static_cast<double>(value.real()) +
             static_cast<double>(value.imag()) * static_cast<double>(value.imag());
    } else {
      const auto wide = static_cast<double>(static_cast<Wide<T>>(value));
      return wide * wide;
    }
  }
  template <class T>
  static T stored(double value) {
    if constexpr (kIsNarrowFloat<T>) {
      return T(static_cast<float>(value));
    } else if constexpr (kIsComplex<T>) {
      return T(static_cast<typename T::value_type>(value));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<int64_t>(std::min(value, 9.2e18)));
    } else {
      return static_cast<T>(value);
    }
  }
};

NoState prepare(PrepareContext& c) {
  c.set_scratch(static_cast<size_t>(std::max<int64_t>(c.output().elements(), 0)) * sizeof(double));
  return {};
}

}  // namespace

OpDef euclidean_norm_op() {
  return {.name = "EuclideanNorm",
          .inputs = "input:T; reduction_indices:Tidx",
          .outputs = "output:T",
          .attrs = kReductionAttrs,
          .host = "reduction_indices",
          .infer = infer_reduction,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
