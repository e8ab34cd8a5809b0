#pragma once

#include "devices/cpu/depthwise.h"

namespace weir::cpu {

// A tap as a run of pixels meets it: what it reads at the first of them, and the filter's channels at that tap.
struct DepthwiseTap {
  const float* x;
  const float* filter;
};
// ... and where the filter's gradient at that tap is added up.
struct DepthwiseSum {
  const float* x;
  float* sum;
};

// The loops of one instruction set, by one thread. Steps are floats from one pixel to the next.
struct DepthwiseTable {
  // y[pixel][c] = epilogue(sum over taps of x[pixel][c] * filter[c]); what the epilogue adds lies as y does
  void (*pixels)(const DepthwiseTap* taps, int64_t count, int64_t x_step, const Epilogue<float>& epilogue, float* y,
                 int64_t y_step, int64_t pixels, int64_t channels);
  // sum[c] += sum over pixels of x[pixel][c] * dy[pixel][c], for every tap
  void (*sums)(const DepthwiseSum* taps, int64_t count, int64_t x_step, const float* dy, int64_t dy_step,
               int64_t pixels, int64_t channels);
};

namespace portable {
extern const DepthwiseTable kDepthwiseTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const DepthwiseTable kDepthwiseTable;
}
namespace avx512 {
extern const DepthwiseTable kDepthwiseTable;
}
#endif

}  // namespace weir::cpu
