#pragma once

#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

// Input 0 has three channels, its last dimension, and at least `rank` dimensions; output 0 is shaped like it.
void infer_colours(InferContext& c, int rank);

// Calls `pixel(const T* in, T* out)` for each pixel of input 0 and output 0.
template <class T, class Pixel>
void for_each_pixel(KernelContext& c, Pixel pixel) {
  const T* in = c.input<T>(0);
  T* out = c.output<T>();
  c.pool().parallel_for(c.output_elements() / 3, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pixel(in + 3 * i, out + 3 * i);
  });
}

}  // namespace weir::ops
