#include <cmath>
#include <limits>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/random/sample_batches.h"
#include "ops/random/stream_variable.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (c.input(1).has_rank() && c.input(1).rank() != 0) {
    throw invalid_argument("algorithm must be of shape [], not {}", c.input(1).str());
  }
  Shape shape = shape_argument(c, 2);
  if (shape.has_rank() && shape.rank() == 0) throw invalid_argument("Shape vector must not be empty, got shape []");
  for (int input : {3, 4}) {
    const char* name = input == 3 ? "counts" : "probs";
    const Shape& parameter = c.input(input);
    if (!parameter.has_rank()) continue;
    if (parameter.rank() > 1) {
      throw invalid_argument("Input {} should be a scalar or vector, got shape: {}", name, parameter.str());
    }
    if (parameter.rank() == 1 && parameter[0] != kUnknown && parameter[0] != 1 && shape.has_rank() &&
        shape[0] != kUnknown && parameter[0] != shape[0]) {
      throw invalid_argument("Input {} should have length 1 or shape[0], got shape: {}", name, parameter.str());
    }
  }
  c.set_output(0, shape);
}

// Uniform numbers, the second of a block first.
class Uniforms {
 public:
  explicit Uniforms(cpu::Philox& stream) : stream_(stream) {}
  double next() {
    if (left_ == 0) {
      uint32_t words[4];
      stream_.next(words, 1);
      for (int i = 0; i < 2; ++i) {
        const uint64_t high = words[2 * i] & 0xfffffu;
        pair_[i] = static_cast<double>(high << 32 | words[2 * i + 1]) * 0x1p-52;
      }
      left_ = 2;
    }
    return pair_[--left_];
  }

 private:
  cpu::Philox& stream_;
  double pair_[2];
  int left_ = 0;
};

// How many waits for a success, each geometrically distributed, fit into `count` trials.
double by_inversion(double count, double p, cpu::Philox& stream) {
  Uniforms uniforms(stream);
  double waited = 0, successes = 0;
  while (true) {
    waited += std::ceil(std::log(uniforms.next()) / std::log1p(-p));
    if (!(waited <= count)) return successes;
    ++successes;
  }
}

// log k! less Stirling's formula.
double stirling_rest(double k) {
  static constexpr double kSmall[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kSmall[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 + 1.0 / 1260 / square) / square) / (k + 1);
}

// Hormann, "The generation of binomial random variates", 1993: BTRS.
double by_rejection(double count, double p, cpu::Philox& stream) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double box = 0.92 - 4.2 / b, odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * p);
  Uniforms uniforms(stream);
  while (true) {
    const double u = uniforms.next() - 0.5;
    double v = uniforms.next();
    const double us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= box) return k;
    if (!(k >= 0 && k <= count)) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(mode) +
                         stirling_rest(count - mode) - stirling_rest(k) - stirling_rest(count - k);
    if (v <= bound) return k;
  }
}

double sample(double count, double p, cpu::Philox& stream) {
  if (!(count > 0) || p <= 0) return 0;
  if (p >= 1) return count;
  if (std::isnan(p)) return p;
  const double rarer = p <= 0.5 ? p : 1 - p;
  const double k = count * rarer >= 10 ? by_rejection(count, rarer, stream) : by_inversion(count, rarer, stream);
  return p <= 0.5 ? k : count - k;
}

template <class Out>
Out stored(double value) {
  if constexpr (std::is_integral_v<Out>) {
    // What is no number, or too large, has no right answer: the least value, as conversions have it.
    if (!(value > -9.2e18 && value < 9.2e18)) return std::numeric_limits<Out>::min();
    return static_cast<Out>(static_cast<int64_t>(value));
  } else if constexpr (std::is_same_v<Out, double>) {
    return value;
  } else {
    return Out(static_cast<float>(value));
  }
}

template <class T>
struct Cpu {
  template <class Out>
  static void run(KernelContext& c) {
    const SampleBatches batches(c.output_shape(), c.elements(3) == 1 && c.elements(4) == 1);
    const cpu::Philox start =
        take_stream(c, c.scalar<int64_t>(1), batches.batches * 2 * 100 * (batches.samples + 3) / 4);
    c.pool().parallel_for(batches.batches, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const auto count = static_cast<double>(c.input<T>(3)[c.elements(3) == 1 ? 0 : b]);
        const auto p = static_cast<double>(c.input<T>(4)[c.elements(4) == 1 ? 0 : b]);
        if (!(count < 9e15)) throw invalid_argument("counts must be below 9e15, got {}", count);
        cpu::Philox stream = start;
        stream.skip(static_cast<uint64_t>(b * 2 * 3 * (batches.samples + 3) / 4));
        const int64_t last = std::min((b + 1) * batches.samples, batches.total);
        for (int64_t i = b * batches.samples; i < last; ++i) c.output<Out>()[i] = stored<Out>(sample(count, p, stream));
      }
    });
  }
};

using Numbers = Types<Half, float, double, int32_t, int64_t>;

template <class T>
ComputeFn for_output(const NodeView& node) {
  return kernel_for<Numbers, Cpu<T>, AttrDtype>(node);
}

ComputeFn select(const NodeView& node) {
  switch (node.type()) {
    case DType::Float16:
      return for_output<Half>(node);
    case DType::Float32:
      return for_output<float>(node);
    case DType::Float64:
      return for_output<double>(node);
    case DType::Int32:
      return for_output<int32_t>(node);
    default:
      return for_output<int64_t>(node);
  }
}

}  // namespace

OpDef stateful_random_binomial_op() {
  return {.name = "StatefulRandomBinomial",
          .inputs = "resource:resource; algorithm:int64; shape:S; counts:T; probs:T",
          .outputs = "output:dtype",
          .attrs =
              "S:type{int32,int64}; T:type{half,float,double,int32,int64}=double; "
              "dtype:type{half,float,double,int32,int64}=int64",
          .flags = "stateful",
          .host = "algorithm, shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select}};
}

}  // namespace weir::ops
