#include "ops/summary/audio.h"
#include "ops/summary/summary_writer.h"
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

void infer_write(InferContext& c) {
  infer_write_summary(c);
  if (c.input(3).has_rank() && c.input(3).rank() != 2 && c.input(3).rank() != 3) {
    c.fail("Tensor must be 3-D or 2-D, got: " + c.input(3).str());
  }
  c.require_scalar(4);
}

void cpu(KernelContext& c) { set_summary(c, audio_summary(c, 0, c.scalar<float>(2), c.state<int64_t>())); }
void write(KernelContext& c) { write_summary(c, audio_summary(c, 2, c.scalar<float>(4), c.state<int64_t>())); }

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

OpDef write_audio_summary_op() {
  return write_row("WriteAudioSummary", "writer:resource; step:int64; tag:string; tensor:float; sample_rate:float",
                   "max_outputs:int>=1=3", infer_write, {.select = kernel_any<write>, .prepare = prepared<prepare>});
}

}  // namespace weir::ops
