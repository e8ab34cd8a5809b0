#pragma once

#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"

namespace weir::ops {

// Cuts input `value` along an axis into the outputs, whose shapes say how.
inline void compute_split(KernelContext& c, int value, int64_t axis_value) {
  const Shape& from = c.shape(value);
  int axis = wrap_axis(axis_value, from.rank());
  int64_t outer = product(from, 0, axis), row = product(from, axis, from.rank()), at = 0;
  DType dtype = c.dtype(value);
  for (int i = 0; i < c.outputs(); ++i) {
    int64_t piece = product(c.output_shape(i), axis, from.rank());
    StridedBox box;
    box.add(outer, piece, row);
    box.add(piece, 1, 1);
    copy_box(dtype, box, c.raw_output(i), offset(dtype, c.raw_input(value), at), c.pool());
    at += piece;
  }
}

inline std::vector<Output> all_outputs(Operation op) {
  std::vector<Output> outputs;
  for (int i = 0; i < op.outputs(); ++i) outputs.push_back(op.output(i));
  return outputs;
}

// The gradients of all outputs; zeros where none arrived.
inline std::vector<Output> all_output_grads(const GradContext& c) {
  std::vector<Output> grads;
  for (int i = 0; i < c.outputs(); ++i) grads.push_back(c.output_grad(i));
  return grads;
}

}  // namespace weir::ops
