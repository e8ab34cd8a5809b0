#include <cmath>
#include <limits>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/math/special.h"
#include "ops/random/block_stream.h"
#include "ops/random/generator.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  Shape shape = shape_argument(c, 0);
  const Shape& rate = c.input(1);
  if (!shape.has_rank() || !rate.has_rank()) return;
  for (int64_t size : rate.dims()) shape.append(size);
  c.set_output(0, shape);
}

// Knuth: events whose distances are exponential, until their sum is 1.
double count_events(double rate, double largest, BlockStream& blocks) {
  const double least = std::exp(-rate);
  double product = 1;
  for (double events = 0;; ++events) {
    product *= blocks.uniform();
    if (product <= least && events <= largest) return events;
  }
}

// Hormann, "The transformed rejection method for generating Poisson random variables", 1993.
double reject_transformed(double rate, double largest, BlockStream& blocks) {
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  while (true) {
    const double u = blocks.uniform() - 0.5, v = blocks.uniform(), shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (k > largest) continue;
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + k * log_rate - lgamma_of(k + 1)) return k;
  }
}

template <class Out>
constexpr double kLargest = static_cast<double>(std::numeric_limits<Out>::max());
template <>
constexpr double kLargest<Half> = 65504;

template <class Rate, class Out>
void fill(KernelContext& c) {
  const int64_t rates = c.elements(1), total = c.output_elements();
  if (total == 0) return;
  const int64_t samples = total / rates;
  for (int64_t i = 0; i < rates; ++i) {
    const auto rate = static_cast<double>(c.input<Rate>(1)[i]);
    // Beyond half of the largest count nearly nothing would be accepted.
    if (!(rate >= 0 && rate < kLargest<Out> / 2))
      throw invalid_argument("rate must be in [0, {}), got {}", kLargest<Out> / 2, rate);
  }
  const cpu::Philox philox = c.state<GeneratorRef>().generator->philox.reserve_outputs(total);
  c.pool().parallel_for(total, 256, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t i = n / samples, j = n % samples;
      const auto rate = static_cast<double>(c.input<Rate>(1)[i]);
      BlockStream blocks(philox, n);
      const double count =
          rate < 10 ? count_events(rate, kLargest<Out>, blocks) : reject_transformed(rate, kLargest<Out>, blocks);
      c.output<Out>()[j * rates + i] =
          static_cast<Out>(static_cast<std::conditional_t<std::is_integral_v<Out>, Out, float>>(count));
    }
  });
}

// By the type of the output, for a rate of type T.
template <class Rate>
ComputeFn select_output(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return fill<Rate, Half>;
    case DType::Float32:
      return fill<Rate, float>;
    case DType::Float64:
      return fill<Rate, double>;
    case DType::Int32:
      return fill<Rate, int32_t>;
    case DType::Int64:
      return fill<Rate, int64_t>;
    default:
      return nullptr;
  }
}

ComputeFn select(DType rate, DType output) {
  switch (rate) {
    case DType::Float16:
      return select_output<Half>(output);
    case DType::Float32:
      return select_output<float>(output);
    case DType::Float64:
      return select_output<double>(output);
    case DType::Int32:
      return select_output<int32_t>(output);
    case DType::Int64:
      return select_output<int64_t>(output);
    default:
      return nullptr;
  }
}

ComputeFn select_v1(const NodeView& node) { return select(node.type("dtype"), node.type("dtype")); }
ComputeFn select_v2(const NodeView& node) { return select(node.type("R"), node.type("dtype")); }

}  // namespace

OpDef random_poisson_op() {
  return {.name = "RandomPoisson",
          .inputs = "shape:S; rate:dtype",
          .outputs = "output:dtype",
          .attrs = "seed:int=0; seed2:int=0; S:type{int32,int64}; dtype:type{half,float,double}",
          .flags = "stateful",
          .host = "shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select_v1, .prepare = prepared<prepare_generator>}};
}

OpDef random_poisson_v2_op() {
  return {.name = "RandomPoissonV2",
          .inputs = "shape:S; rate:R",
          .outputs = "output:dtype",
          .attrs =
              "seed:int=0; seed2:int=0; S:type{int32,int64}; R:type{half,float,double,int32,int64}=double; "
              "dtype:type{half,float,double,int32,int64}=int64",
          .flags = "stateful",
          .host = "shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select_v2, .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops
