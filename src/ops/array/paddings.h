#pragma once

#include "graph/infer_context.h"

namespace weir::ops {

// Throws unless input 1 has a row of two numbers for each dimension of input 0.
void require_paddings(const InferContext& c);

}  // namespace weir::ops
