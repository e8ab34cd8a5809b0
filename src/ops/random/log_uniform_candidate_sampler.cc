#include <cmath>

#include "ops/random/candidate_sampler.h"
#include "ops/types.h"
#include "weir/candidate_ops.h"

namespace weir::ops {
namespace {

// P(class) = log((class + 2) / (class + 1)) / log(range + 1): Zipf's law for classes sorted by how frequent they are.
void cpu(KernelContext& c) {
  const int64_t range = c.state<SamplerState>().range;
  const double log_range = std::log1p(static_cast<double>(range));
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63, the first number that an int64 cannot be
  sample_candidates(
      c,
      // Rounding may reach `range` itself.
      [&](WordStream& words) {
        const double x = std::exp(words.next_double() * log_range);
        return (x < kBeyond ? static_cast<int64_t>(x) - 1 : 0) % range;
      },
      [&](int64_t k) {
        const auto x = static_cast<double>(k);
        return static_cast<float>(std::log((x + 2) / (x + 1)) / log_range);
      });
}

}  // namespace

OpDef log_uniform_candidate_sampler_op() {
  return sampler_row("LogUniformCandidateSampler", {.select = kernel_any<cpu>, .prepare = prepared<prepare_sampler>});
}

}  // namespace weir::ops

namespace weir::nn {

SampledCandidates log_uniform_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                std::string_view name) {
  return sample_candidates("LogUniformCandidateSampler", true_classes, options, name);
}

}  // namespace weir::nn
