#include <cmath>
#include <limits>

#include "ops/math/cumulate.h"

namespace weir::ops {
namespace {

// Infinity stands for "nothing yet" in an exclusive sum; TensorFlow takes the least number instead.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const CumulateState& options = c.state<CumulateState>();
    const CumulateShape s = cumulate_shape(c);
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    // The least number of the type itself.
    const A least = std::is_same_v<T, Half> ? A(-65504) : std::numeric_limits<A>::lowest();
    const int64_t grain = std::max<int64_t>(1, 2048 / std::max<int64_t>(s.n, 1));
    c.pool().parallel_for(s.outer * s.inner, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t first = line / s.inner * s.n * s.inner + line % s.inner;
        A sum = least;
        for (int64_t i = 0; i < s.n; ++i) {
          const int64_t at = first + (options.reverse ? s.n - 1 - i : i) * s.inner;
          const A next = log_sum(sum, static_cast<A>(x[at]), least);
          y[at] = static_cast<T>(options.exclusive ? sum : next);
          sum = next;
        }
      }
    });
  }

 private:
  template <class A>
  static A log_sum(A a, A b, A least) {
    const A larger = std::max(a, b), smaller = std::min(a, b);
    if (std::isnan(a) || std::isnan(b)) return a + b;
    // Subtracting the larger from itself would make no number of infinities.
    if (larger == smaller || std::isinf(larger)) return std::isinf(larger) ? larger : larger + std::log(A(2));
    if (smaller <= least) return larger;
    return larger + std::log1p(std::exp(smaller - larger));
  }
};

// dy * exp(x_i - y_j) summed over the j that x_i is part of, through logarithms of the positive and negative parts.
void gradient(GradContext& c) {
  Output x = c.input(0), axis = c.input(1), y = c.output(0), grad = c.output_grad();
  const bool exclusive = c.attr<bool>("exclusive"), reverse = c.attr<bool>("reverse");
  const double least = x.dtype() == float16   ? -65504.0
                       : x.dtype() == float32 ? static_cast<double>(std::numeric_limits<float>::lowest())
                                              : std::numeric_limits<double>::lowest();
  auto part = [&](const Output& magnitude, const Output& is_there) {
    Output none = fill(shape(grad), cast(c.graph().constant(least, float64), x.dtype()));
    Output logs = where(is_there, log(magnitude), none);
    Output sums = NodeBuilder("CumulativeLogsumexp")
                      .input(logs - y)
                      .input(axis)
                      .attr("exclusive", exclusive)
                      .attr("reverse", !reverse)
                      .output();
    return exp(sums + x);
  };
  Output zero = zeros_like(grad);
  c.set_input_grad(0, part(grad, greater(grad, zero)) - part(-grad, less(grad, zero)));
}

}  // namespace

OpDef cumulative_logsumexp_op() {
  return {.name = "CumulativeLogsumexp",
          .inputs = "x:T; axis:Tidx",
          .outputs = "out:T",
          .attrs = "exclusive:bool=False; reverse:bool=False; T:type{half,float,double}; Tidx:type{int32,int64}=int32",
          .host = "axis",
          .infer = infer_cumulate,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu>, .prepare = prepared<prepare_cumulate>}};
}

}  // namespace weir::ops
