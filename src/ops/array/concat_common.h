#pragma once

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// What Concat and ConcatV2 share; they differ in where the axis stands among the inputs.
struct ConcatInputs {
  int axis, first, count;
};
void infer_concat(InferContext& c, const ConcatInputs& inputs);
void concat_gradient(GradContext& c, const ConcatInputs& inputs);
void compute_concat(KernelContext& c, const ConcatInputs& inputs);

}  // namespace weir::ops
