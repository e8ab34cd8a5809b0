#include "ops/summary/audio.h"
#include "ops/types.h"

// AudioSummaryV2's elder, which old graphs hold: the sample rate is an attribute.
namespace weir::ops {
namespace {

struct State {
  float sample_rate;
  int64_t max_outputs;
};

State prepare(PrepareContext& c) { return {c.attr<float>("sample_rate"), c.attr<int64_t>("max_outputs")}; }

void cpu(KernelContext& c) {
  set_summary(c, audio_summary(c, 0, c.state<State>().sample_rate, c.state<State>().max_outputs));
}

}  // namespace

OpDef audio_summary_op() {
  return {.name = "AudioSummary",
          .inputs = "tag:string; tensor:float",
          .outputs = "summary:string",
          .attrs = "sample_rate:float; max_outputs:int>=1=3",
          .flags = "deprecated@15",
          .infer = infer_audio_summary,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
