#pragma once

#include "ops/summary/summary_output.h"

namespace weir::ops {

// What AudioSummary and AudioSummaryV2 share: input 0 is the tag, input 1 float [batch, frames] or
// [batch, frames, channels].
void infer_audio_summary(InferContext& c);
// Inputs `tag` and the one behind are the tag and the sounds.
proto::Summary audio_summary(KernelContext& c, int tag, float sample_rate, int64_t max_outputs);

}  // namespace weir::ops
