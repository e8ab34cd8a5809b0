#pragma once

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// What Pad and PadV2 share.
void infer_pad(InferContext& c);
void pad_gradient(GradContext& c);
// `value` is the element to pad with; null: zero.
void compute_pad(KernelContext& c, const void* value);

}  // namespace weir::ops
