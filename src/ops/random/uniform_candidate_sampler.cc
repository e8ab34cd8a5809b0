#include "ops/random/candidate_sampler.h"
#include "ops/types.h"
#include "weir/candidate_ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  const int64_t range = c.state<SamplerState>().range;
  sample_candidates(
      c, [&](WordStream& words) { return static_cast<int64_t>(next_below(words, static_cast<uint64_t>(range))); },
      [&](int64_t) { return 1.f / static_cast<float>(range); });
}

}  // namespace

OpDef uniform_candidate_sampler_op() {
  return sampler_row("UniformCandidateSampler", {.select = kernel_any<cpu>, .prepare = prepared<prepare_sampler>});
}

}  // namespace weir::ops

namespace weir::nn {

SampledCandidates uniform_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                            std::string_view name) {
  return sample_candidates("UniformCandidateSampler", true_classes, options, name);
}

}  // namespace weir::nn
