#pragma once

#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// SpaceToBatchND and BatchToSpaceND: input 1 holds the sizes of the blocks, input 2 the paddings (or crops), a pair for
// each. They are each other's inverse and gradient.
void infer_space_batch(InferContext& c, bool to_batch);
void move_blocks(KernelContext& c, bool to_batch);

}  // namespace weir::ops
