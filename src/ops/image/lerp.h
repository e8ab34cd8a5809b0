#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/image/resize.h"

namespace weir::ops {

// One coordinate of a pixel of the output: between two of the input.
struct Lerp {
  int64_t lower, upper;
  float fraction;
};

inline std::vector<Lerp> lerps(int64_t in, int64_t out, const Scaling& scaling) {
  std::vector<Lerp> result(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const float at = scaling.at(i), floor = std::floor(at);
    // Rounding may carry the last of many pixels past the end.
    const int64_t lower = std::clamp<int64_t>(static_cast<int64_t>(floor), 0, in - 1);
    result[static_cast<size_t>(i)] = {lower, std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, in - 1),
                                      at - floor};
  }
  return result;
}

}  // namespace weir::ops
