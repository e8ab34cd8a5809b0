#pragma once

#include <span>
#include <string>

#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// What operations on checkpoints have in common: inputs 0 (a file name), 1 (names) and 2 (shapes and slices).

// The first `scalars` inputs must be scalars, the `vectors` after them vectors, all of one length, which is that of the
// `lists` outputs or remaining inputs.
void require_names(InferContext& c, int vectors, int lists);

std::span<const std::string> strings(const KernelContext& c, int index);

// The shape that a text such as "4 2 0,2:-" gives to a slice; unknown for an empty text.
Shape slice_shape(const std::string& shape_and_slice);

}  // namespace weir::ops
