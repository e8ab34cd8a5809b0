#include "ops/summary/audio.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_audio_summary(c);
  if (int64_t rates = c.input(2).elements(); rates != 1 && rates != kUnknown) {
    c.fail("sample_rate must be a single number, not of shape " + c.input(2).str());
  }
}

int64_t prepare(PrepareContext& c) { return c.attr<int64_t>("max_outputs"); }

void cpu(KernelContext& c) { audio_summary(c, c.scalar<float>(2), c.state<int64_t>()); }

}  // namespace

OpDef audio_summary_v2_op() {
  return {.name = "AudioSummaryV2",
          .inputs = "tag:string; tensor:float; sample_rate:float",
          .outputs = "summary:string",
          .attrs = "max_outputs:int>=1=3",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
