#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "devices/cpu/pool2d.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"
#include "ops/nn/window.h"

// Pools in any type and layout, for what devices/cpu/pool2d.h does not cover.
namespace weir::ops {

// Calls body(output element, taps) for every element of outputs [begin, end), numbered by (image, row, column), and
// each channel; taps(visit) calls visit(input element) for every input under the window, row by row.
template <class Body>
void for_each_window(const PoolGeometry& g, int64_t begin, int64_t end, const Body& body) {
  const ImageStrides in = image_strides(g.layout, g.height.in, g.width.in, g.channels);
  const ImageStrides out = image_strides(g.layout, g.height.out, g.width.out, g.channels);
  for (int64_t at = begin; at < end; ++at) {
    const int64_t ow = at % g.width.out, oh = at / g.width.out % g.height.out, n = at / g.width.out / g.height.out;
    const Taps rows(g.height, oh), columns(g.width, ow);
    const int64_t top = oh * g.height.stride - g.height.pad_before, left = ow * g.width.stride - g.width.pad_before;
    for (int64_t channel = 0; channel < g.channels; ++channel) {
      const int64_t image = n * in.batch + channel * in.channels;
      auto taps = [&](auto&& visit) {
        for (int64_t kh = rows.first; kh < rows.last; ++kh) {
          for (int64_t kw = columns.first; kw < columns.last; ++kw) {
            visit(image + (top + kh) * in.height + (left + kw) * in.width);
          }
        }
      };
      body(n * out.batch + oh * out.height + ow * out.width + channel * out.channels, taps);
    }
  }
}

// The element under the window that is the largest, the first of equals.
template <class T, class TapsFn>
int64_t largest_under(const T* x, const TapsFn& taps) {
  int64_t largest = -1;
  taps([&](int64_t i) {
    if (largest < 0 || x[i] > x[largest]) largest = i;
  });
  return largest;
}

inline int64_t pool_windows(const PoolGeometry& g) { return g.height.out * g.width.out; }
inline int64_t pool_grain(const PoolGeometry& g) {
  const int64_t work = g.channels * g.height.size * g.width.size;
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(work, 1));
}

// devices/cpu/pool2d.h serves float images in NHWC.
template <class T>
bool is_fast_pool(const PoolGeometry& g) {
  return std::is_same_v<T, float> && g.layout.channels == 3;
}
inline cpu::Pool2dShape fast_pool(const PoolGeometry& g) {
  return {.batch = g.batch,
          .in_height = g.height.in,
          .in_width = g.width.in,
          .out_height = g.height.out,
          .out_width = g.width.out,
          .channels = g.channels,
          .window_height = g.height.size,
          .window_width = g.width.size,
          .stride_height = g.height.stride,
          .stride_width = g.width.stride,
          .pad_top = g.height.pad_before,
          .pad_left = g.width.pad_before};
}

}  // namespace weir::ops
