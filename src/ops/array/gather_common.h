#pragma once

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// What Gather and GatherV2 share. Slices along `axis` of input 0 are taken at input 1; the first `batch_dims`
// dimensions of both go together.
void infer_gather(InferContext& c, std::optional<int64_t> axis, int64_t batch_dims);
void compute_gather(KernelContext& c, int64_t axis, int64_t batch_dims);
// The gradient for axis 0: the rows that were gathered.
IndexedSlices gather_row_gradient(const Output& params, const Output& indices, const Output& grad);

// Throws InvalidArgument: element i of `indices`, at its coordinates, is not in [0, limit).
[[noreturn]] void index_out_of_range(const Shape& indices, int64_t i, int64_t value, int64_t limit);

}  // namespace weir::ops
