#pragma once

#include <stdint.h>

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Pooling of float32 volumes [batch, depth, height, width, channels]; arrays of sizes are in the order depth, height,
// width. Output voxel o sees the window that begins at input voxel o * stride - pad, as far as it lies in the volume;
// some of every window does.
struct Pool3dShape {
  int64_t batch;
  int64_t in[3], out[3];
  int64_t channels;
  int64_t window[3], stride[3];
  int64_t pad[3] = {0, 0, 0};
};

// The first element of a window, then any that is greater: NaN wins where it comes first, and is passed over elsewhere.
void max_pool_3d(const float* x, float* y, const Pool3dShape& shape, ThreadPool& pool);

// The gradient goes to every element that equals the largest, as TensorFlow has it for volumes. Writes every element of dx.
void max_pool_3d_grad(const float* x, const float* dy, float* dx, const Pool3dShape& shape, ThreadPool& pool);

// The mean of those elements of the window that lie in the volume.
void avg_pool_3d(const float* x, float* y, const Pool3dShape& shape, ThreadPool& pool);
void avg_pool_3d_grad(const float* dy, float* dx, const Pool3dShape& shape, ThreadPool& pool);

}  // namespace weir::cpu
