#pragma once

#include <array>
#include <vector>

#include "ops/image/resize.h"

namespace weir::ops {

// One coordinate of a pixel of the output: a weighted sum of four of the input.
struct Cubic {
  std::array<int64_t, 4> index;
  std::array<float, 4> weight;
};
// Weights are looked up in a table of 1024 places between two pixels, as in TensorFlow. With half-pixel centres they
// are Keys's, and pixels outside have none; otherwise those of another cubic, and the border is repeated.
std::vector<Cubic> cubics(int64_t in, int64_t out, const Scaling& scaling);

}  // namespace weir::ops
