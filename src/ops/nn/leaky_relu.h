#pragma once

#include <cstdint>

namespace weir::ops {

// dx = dy where x is positive, and alpha dy elsewhere; with x for dy it is LeakyRelu itself. By tiles, with the loops
// of this machine's instruction set. dx may be dy or x.
void leak(const float* dy, const float* x, float alpha, float* dx, int64_t n);

}  // namespace weir::ops
