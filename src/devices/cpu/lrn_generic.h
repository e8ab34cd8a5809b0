#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "devices/cpu/lrn.h"

namespace weir::cpu {

// LRN of any floating type, straight from the formulas: for types and radii without a fast path. Computes in Acc, which
// T converts to and from. Same contracts as lrn() and lrn_grad(); begin and end limit the pixels.

template <class Acc, class T>
Acc lrn_norm(const T* pixel, int64_t channel, int64_t channels, const LrnOptions& options) {
  const int64_t radius = std::min(options.depth_radius, channels);
  const int64_t end = std::min(channels, channel + radius + 1);
  Acc sum = 0;
  for (int64_t c = std::max<int64_t>(0, channel - radius); c < end; ++c) {
    const Acc v = static_cast<Acc>(pixel[c]);
    sum += v * v;
  }
  return static_cast<Acc>(options.bias) + static_cast<Acc>(options.alpha) * sum;
}

template <class Acc, class T>
void lrn_generic(const T* x, T* y, int64_t begin, int64_t end, int64_t channels, const LrnOptions& options) {
  for (int64_t i = begin * channels; i < end * channels; ++i) {
    const int64_t c = i % channels;
    const Acc norm = lrn_norm<Acc>(x + i - c, c, channels, options);
    y[i] = static_cast<T>(static_cast<Acc>(x[i]) * std::pow(norm, -static_cast<Acc>(options.beta)));
  }
}

template <class Acc, class T>
void lrn_grad_generic(const T* dy, const T* x, const T* y, T* dx, int64_t begin, int64_t end, int64_t channels,
                      const LrnOptions& options) {
  const int64_t radius = std::min(options.depth_radius, channels);
  const Acc beta = static_cast<Acc>(options.beta), factor = -2 * static_cast<Acc>(options.alpha) * beta;
  for (int64_t i = begin * channels; i < end * channels; ++i) {
    const int64_t c = i % channels, first = i - c;
    Acc sum = 0;
    for (int64_t j = std::max<int64_t>(0, c - radius); j < std::min(channels, c + radius + 1); ++j)
      sum += static_cast<Acc>(dy[first + j]) * static_cast<Acc>(y[first + j]) /
             lrn_norm<Acc>(x + first, j, channels, options);
    const Acc scale = std::pow(lrn_norm<Acc>(x + first, c, channels, options), -beta);
    dx[i] = static_cast<T>(static_cast<Acc>(dy[i]) * scale + factor * static_cast<Acc>(x[i]) * sum);
  }
}

}  // namespace weir::cpu
