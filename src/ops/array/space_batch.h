#pragma once

#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// SpaceToBatchND and BatchToSpaceND: input 1 holds the sizes of the blocks, input 2 the paddings (or crops), a pair for
// each. They are each other's inverse and gradient.
void infer_space_batch(InferContext& c, bool to_batch);
void move_blocks(KernelContext& c, bool to_batch);

// The older SpaceToBatch and BatchToSpace: one size of blocks of two dimensions, an attribute, and paddings in input 1.
void infer_square_blocks(InferContext& c, bool to_batch);
void move_square_blocks(KernelContext& c, int64_t block, bool to_batch);

}  // namespace weir::ops
