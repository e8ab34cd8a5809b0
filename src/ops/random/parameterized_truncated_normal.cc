#include <cmath>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"
#include "ops/random/generator.h"
#include "ops/random/sample_batches.h"

namespace weir::ops {
namespace {

constexpr int64_t kMaxTries = 1000;
constexpr const char* kParameters[] = {"means", "stddevs", "minvals", "maxvals"};

void infer(InferContext& c) {
  Shape shape = shape_argument(c, 0);
  if (shape.has_rank() && shape.rank() == 0) throw invalid_argument("Shape vector must not be empty, got shape []");
  for (int i = 0; i < 4; ++i) {
    const Shape& parameter = c.input(i + 1);
    if (!parameter.has_rank()) continue;
    if (parameter.rank() > 1) {
      throw invalid_argument("Input {} should be a scalar or vector, got shape: {}", kParameters[i], parameter.str());
    }
    if (parameter.rank() == 1 && parameter[0] != kUnknown && parameter[0] != 1 && shape.has_rank() &&
        shape[0] != kUnknown && parameter[0] != shape[0]) {
      throw invalid_argument("Input {} should have length 1 or shape[0], got shape: {}", kParameters[i],
                             parameter.str());
    }
  }
  c.set_output(0, shape);
}

template <class T>
struct Sampler {
  using W = Wide<T>;
  cpu::Philox stream;
  ThreadPool& pool;
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;  // numbers of one block

  void uniforms(W* out) {
    T group[kGroup];
    cpu::fill_uniform(stream, group, kGroup, pool);
    stream.skip(1);
    for (int i = 0; i < kGroup; ++i) out[i] = static_cast<W>(group[i]);
  }
  void normals(W* out) {
    T group[kGroup];
    cpu::fill_normal(stream, group, kGroup, pool);
    stream.skip(1);
    for (int i = 0; i < kGroup; ++i) out[i] = static_cast<W>(group[i]);
  }

  [[noreturn]] static void fail(const char* method) {
    throw invalid_argument("TruncatedNormal {} rejection sampler failed to accept a sample.", method);
  }

  // Normal numbers, those outside drawn again.
  void from_normal(T* y, int64_t n, W low, W high, W mean, W deviation) {
    int64_t tries = 0;
    while (n > 0) {
      W drawn[kGroup];
      normals(drawn);
      for (int i = 0; i < kGroup && n > 0; ++i) {
        if (drawn[i] >= low && drawn[i] <= high) {
          *y++ = static_cast<T>(drawn[i] * deviation + mean);
          --n;
          tries = 0;
        } else if (++tries > kMaxTries) {
          fail("randn");
        }
      }
    }
  }

  // Evenly between the bounds, kept as often as the density says.
  void from_uniform(T* y, int64_t n, W low, W width, W mean, W deviation) {
    const W most = low < 0 ? W(0) : low * low;
    int64_t tries = 0;
    while (n > 0) {
      W drawn[kGroup], kept[kGroup];
      uniforms(drawn);
      uniforms(kept);
      for (int i = 0; i < kGroup && n > 0; ++i) {
        const W z = drawn[i] * width + low;
        if (kept[i] <= std::exp((most - z * z) / 2)) {
          *y++ = static_cast<T>(z * deviation + mean);
          --n;
          tries = 0;
        } else if (++tries >= kMaxTries) {
          fail("uniform");
        }
      }
    }
  }

  // Exponentially above the lower bound.
  void from_exponential(T* y, int64_t n, W low, W high, W mean, W deviation) {
    const W alpha = (low + std::sqrt(low * low + 4)) / 2;
    int64_t tries = 0;
    while (n > 0) {
      W drawn[kGroup];
      uniforms(drawn);
      for (int i = 0; i + 1 < kGroup && n > 0; i += 2) {
        const W z = -std::log(drawn[i]) / alpha + low;
        const W x = low < alpha ? alpha - z : low - alpha;
        if (drawn[i + 1] <= std::exp(-x * x / 2) && z < high) {
          *y++ = static_cast<T>(z * deviation + mean);
          --n;
          tries = 0;
        } else if (++tries >= kMaxTries) {
          fail("exponential distribution");
        }
      }
    }
  }

  void batch(T* y, int64_t n, W mean, W deviation, W low, W high) {
    if (!(deviation > 0 && low < high && (std::isfinite(low) || std::isfinite(high)))) {
      throw invalid_argument("Invalid parameters");
    }
    // A bound on one side alone is the lower one, and two on one side of the mean are above it.
    if ((std::isinf(low) && low < 0) || high < mean) {
      std::swap(low, high);
      deviation = -deviation;
    }
    const W from = (low - mean) / deviation, to = (high - mean) / deviation, width = to - from;
    const W root = std::sqrt(from * from + 4);
    const W cutoff = 2 * std::exp(W(0.5) + from * (from - root) / 4) / (from + root);
    const W wide = W(1.3);
    if ((from < -wide && to >= 0) || (to > wide && from <= 0)) {
      from_normal(y, n, from, to, mean, deviation);
    } else if (width < cutoff) {
      from_uniform(y, n, from, width, mean, deviation);
    } else {
      from_exponential(y, n, from, to, mean, deviation);
    }
  }
};

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const bool same = c.elements(1) == 1 && c.elements(2) == 1 && c.shape(3).rank() == 0 && c.shape(4).rank() == 0;
    const SampleBatches batches(c.output_shape(), same);
    const int64_t blocks_each = 2 * kMaxTries * (batches.samples + 3);
    const cpu::Philox stream = c.state<GeneratorRef>().generator->philox.reserve(batches.batches * blocks_each / 4);
    auto parameter = [&](int input, int64_t b) {
      return static_cast<Wide<T>>(c.input<T>(input)[c.elements(input) == 1 ? 0 : b]);
    };
    c.pool().parallel_for(batches.batches, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t first = b * batches.samples, n = std::min(batches.samples, batches.total - first);
        Sampler<T> sampler{stream, c.pool()};
        sampler.stream.skip(static_cast<uint64_t>(b * blocks_each / 4));
        sampler.batch(c.output<T>() + first, n, parameter(1, b), parameter(2, b), parameter(3, b), parameter(4, b));
      }
    });
  }
};

}  // namespace

OpDef parameterized_truncated_normal_op() {
  return {.name = "ParameterizedTruncatedNormal",
          .inputs = "shape:T; means:dtype; stdevs:dtype; minvals:dtype; maxvals:dtype",
          .outputs = "output:dtype",
          .attrs = "seed:int=0; seed2:int=0; dtype:type{half,bfloat16,float,double}; T:type{int32,int64}",
          .flags = "stateful",
          .host = "shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<FloatTypes, Cpu, AttrDtype>, .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops
