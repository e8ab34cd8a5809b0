#pragma once

#include "graph/infer_context.h"

namespace weir::ops {

// Output 0 is input 0 with the shape that input 1 gives, which may leave one size open as -1.
void infer_reshape(InferContext& c);

}  // namespace weir::ops
