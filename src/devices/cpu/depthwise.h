#pragma once

#include <stddef.h>
#include <stdint.h>

#include "devices/cpu/gemm_kernels.h"

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Convolution of each channel by itself: float32 images [batch, height, width, channels], a filter
// [height, width, channels]. Output pixel i sees the input pixels i * stride - pad + tap * dilation that exist.
struct DepthwiseAxis {
  int64_t in, out, size;
  int64_t stride = 1, dilation = 1, pad = 0;
};
struct DepthwiseShape {
  int64_t batch, channels;
  DepthwiseAxis height, width;
};

// Filters with more taps have no fast loops.
constexpr int64_t kMaxDepthwiseTaps = 64;

// An element's sum runs over the taps in the filter's order, whatever its place, so bits do not depend on the threads.
// Arrays do not overlap.
void depthwise(const DepthwiseShape& shape, const float* x, const float* filter, const Epilogue<float>& epilogue,
               float* y, ThreadPool& pool);
void depthwise_input(const DepthwiseShape& shape, const float* filter, const float* dy, float* dx, ThreadPool& pool);

// Sums over short runs of pixels are made in float, those over the runs in double.
size_t depthwise_filter_scratch(const DepthwiseShape& shape);
void depthwise_filter(const DepthwiseShape& shape, const float* x, const float* dy, float* filter_grad, void* scratch,
                      ThreadPool& pool);

}  // namespace weir::cpu
