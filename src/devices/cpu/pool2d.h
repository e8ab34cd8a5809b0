#pragma once

#include <stdint.h>

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Two-dimensional pooling of float32 images [batch, height, width, channels]. Output pixel (i, j) sees the window that
// begins at input pixel (i * stride_height - pad_top, j * stride_width - pad_left), as far as it lies in the image.
struct Pool2dShape {
  int64_t batch;
  int64_t in_height, in_width;
  int64_t out_height, out_width;
  int64_t channels;
  int64_t window_height, window_width;
  int64_t stride_height, stride_width;
  int64_t pad_top = 0, pad_left = 0;
};

// Passes over NaN, and gives the lowest finite float where there is nothing larger, as TensorFlow does.
void max_pool(const float* x, float* y, const Pool2dShape& shape, ThreadPool& pool);

// The gradient goes to the first of the largest elements of a window, in row-major order. y is max_pool's result for x:
// it only saves time, a window whose y is not found in x is searched for its maximum. Writes every element of dx.
void max_pool_grad(const float* x, const float* y, const float* dy, float* dx, const Pool2dShape& shape,
                   ThreadPool& pool);

// The mean of those elements of the window that lie in the image.
void avg_pool(const float* x, float* y, const Pool2dShape& shape, ThreadPool& pool);
void avg_pool_grad(const float* dy, float* dx, const Pool2dShape& shape, ThreadPool& pool);

}  // namespace weir::cpu
