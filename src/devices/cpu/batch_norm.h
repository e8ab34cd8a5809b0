#pragma once

#include <stddef.h>
#include <stdint.h>

#include "devices/cpu/gemm_kernels.h"

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Images as [outer, channels, inner]: NHWC has inner 1, NCHW has the pixels there.
struct ChannelShape {
  int64_t outer, channels, inner;
  int64_t per_channel() const { return outer * inner; }
};

// Bytes that the functions below need as scratch memory.
size_t batch_norm_scratch(const ChannelShape& shape);

// Mean and (biased) variance of each channel. T is float, Half or BFloat16; the results do not depend on the threads.
template <class T>
void channel_moments(const ChannelShape& shape, const T* x, float* mean, float* variance, void* scratch,
                     ThreadPool& pool);

// The activation that stood behind a normalisation x * scale[c] + shift[c]: gradients count where it rises.
struct ChannelMask {
  const float* scale = nullptr;
  const float* shift = nullptr;
  Activation activation = Activation::None;  // None: all count, and the vectors are not read
};

// Sums over each channel of dy and of dy * (x - mean).
template <class T>
void channel_gradient_sums(const ChannelShape& shape, const T* x, const T* dy, const float* mean,
                           const ChannelMask& mask, double* dy_sum, double* dy_x_sum, void* scratch, ThreadPool& pool);

// y = act(x * scale[c] + shift[c] + side); side has the shape of x, or is null
template <class T>
void scale_channels(const ChannelShape& shape, const T* x, const T* side, const float* scale, const float* shift,
                    Activation activation, T* y, ThreadPool& pool);
// dx = dy * a[c] + x * b[c] + shift[c]
template <class T>
void combine_channels(const ChannelShape& shape, const T* dy, const T* x, const float* a, const float* b,
                      const float* shift, const ChannelMask& mask, T* dx, ThreadPool& pool);

}  // namespace weir::cpu
