#include <algorithm>
#include <numeric>

#include "ops/random/candidate_sampler.h"
#include "ops/types.h"
#include "weir/candidate_ops.h"

// Not a sample at all: every class, once. For the full loss in a program that was written for a sampled one.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const int64_t samples = c.attr<int64_t>("num_sampled");
  c.require_rank(0, 2);
  c.set_output(0, {samples});
  c.set_output(1, c.input(0).merged({kUnknown, c.attr<int64_t>("num_true")}));
  c.set_output(2, {samples});
}

void cpu(KernelContext& c) {
  auto* sampled = c.output<int64_t>(0);
  std::iota(sampled, sampled + c.output_elements(0), int64_t{0});
  std::fill_n(c.output<float>(1), c.output_elements(1), 1.f);
  std::fill_n(c.output<float>(2), c.output_elements(2), 1.f);
}

}  // namespace

OpDef all_candidate_sampler_op() {
  return {.name = "AllCandidateSampler",
          .inputs = "true_classes:int64",
          .outputs = kSamplerOutputs,
          .attrs = "num_true:int>=1; num_sampled:int>=1; unique:bool; seed:int=0; seed2:int=0",
          .flags = "stateful",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops

namespace weir::nn {

SampledCandidates all_candidate_sampler(const In& true_classes, int64_t num_true, int64_t num_sampled, bool unique,
                                        std::string_view name) {
  Operation op = NodeBuilder("AllCandidateSampler", name, true_classes.where())
                     .input(true_classes)
                     .attr("num_true", num_true)
                     .attr("num_sampled", num_sampled)
                     .attr("unique", unique)
                     .build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir::nn
