#pragma once

#include <stdint.h>

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

// Local response normalisation across the channels of float32 images, given as [pixels, channels]:
//   norm = bias + alpha * (sum of x^2 over the channels at most depth_radius away), y = x / norm^beta.
struct LrnOptions {
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};

// y may not be x. beta of 1/2, 3/4 and 1 take square roots in place of powers.
void lrn(const float* x, float* y, int64_t pixels, int64_t channels, const LrnOptions& options, ThreadPool& pool);

// dx from dy and from lrn's input x and output y; dx overlaps none of them.
void lrn_grad(const float* dy, const float* x, const float* y, float* dx, int64_t pixels, int64_t channels,
              const LrnOptions& options, ThreadPool& pool);

}  // namespace weir::cpu
