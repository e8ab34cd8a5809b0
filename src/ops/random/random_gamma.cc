#include <cmath>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/math/binary.h"
#include "ops/math/incomplete_gamma.h"
#include "ops/math/special.h"
#include "ops/random/block_stream.h"
#include "ops/random/generator.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  Shape shape = shape_argument(c, 0);
  const Shape& alpha = c.input(1);
  if (!shape.has_rank() || !alpha.has_rank()) return;
  for (int64_t size : alpha.dims()) shape.append(size);
  c.set_output(0, shape);
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. For alpha below 1 a sample of alpha + 1
// is scaled down.
double sample(double alpha, BlockStream& blocks) {
  if (alpha == 1) return -std::log(1 - blocks.uniform());
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    const double x = blocks.normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = blocks.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return small ? d * v * std::pow(blocks.uniform(), 1 / alpha) : d * v;
    }
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t alphas = c.elements(1), total = c.output_elements();
    if (total == 0) return;
    const int64_t samples = total / alphas;
    const cpu::Philox philox = c.state<GeneratorRef>().generator->philox.reserve_outputs(total);
    for (int64_t i = 0; i < alphas; ++i) {
      // What is no number, or negative, would never be accepted.
      const auto alpha = static_cast<double>(c.input<T>(1)[i]);
      if (!(alpha >= 0 && std::isfinite(alpha))) throw invalid_argument("alpha must not be negative, got {}", alpha);
    }
    // Sample j of alpha i has a stream of its own, whoever draws it.
    c.pool().parallel_for(total, 256, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const int64_t i = n / samples, j = n % samples;
        BlockStream blocks(philox, n);
        c.output<T>()[j * alphas + i] = static_cast<T>(sample(static_cast<double>(c.input<T>(1)[i]), blocks));
      }
    });
  }
};

// By alpha, through the sample's own dependence on it; alpha stands in the last dimensions of the samples.
void gradient(GradContext& c) {
  Output alpha = c.input(1), sample = c.output(0);
  Output slope = NodeBuilder("RandomGammaGrad").input(alpha).input(sample).output();
  Output axes = range(c.graph(), 0, rank(sample) - rank(alpha), 1);
  c.set_input_grad(1, reduce_sum(c.output_grad() * slope, axes));
}

// A sample is where P(alpha, x) has a certain value, so that it moves by -(dP/dalpha) / (dP/dx).
struct Slope {
  static constexpr int64_t kGrain = 256;
  template <class T>
  T operator()(T alpha, T sample) const {
    const auto a = static_cast<double>(alpha), x = static_cast<double>(sample);
    if (x == 0) return T(0);
    return static_cast<T>(-lower_gamma_slope_of(a, x) * std::exp(x - (a - 1) * std::log(x) + lgamma_of(a)));
  }
};

}  // namespace

OpDef random_gamma_grad_op() {
  OpDef row = binary_op<Slope, Types<float, double>>(
      {.name = "RandomGammaGrad", .attrs = "T:type{float,double}", .inputs = "alpha:T; sample:T"});
  row.outputs = "output:T";
  return row;
}

OpDef random_gamma_op() {
  return {.name = "RandomGamma",
          .inputs = "shape:S; alpha:T",
          .outputs = "output:T",
          .attrs = "seed:int=0; seed2:int=0; S:type{int32,int64}; T:type{half,float,double}",
          .flags = "stateful",
          .host = "shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu>, .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops
