#pragma once

#include "devices/cpu/batch_norm.h"

namespace weir::cpu {

// The loops over rows of float32 channels of one instruction set, by one thread. Sums are made in float over 64 rows
// and added to double.
struct BatchNormTable {
  // sums[c] += x - pivot[c]; squares[c] += (x - pivot[c])^2
  void (*moments)(const float* x, int64_t rows, int64_t channels, const float* pivot, double* sums, double* squares);
  // y = act(x * scale[c] + shift[c] + side); side may be null
  void (*scale)(const float* x, const float* side, int64_t rows, int64_t channels, const float* scale,
                const float* shift, Activation activation, float* y);
  // sums[c] += dy; products[c] += dy * (x - mean[c]), with dy as the mask leaves it
  void (*gradient_sums)(const float* x, const float* dy, int64_t rows, int64_t channels, const float* mean,
                        const ChannelMask& mask, double* sums, double* products);
  // dx = dy * a[c] + x * b[c] + shift[c]
  void (*combine)(const float* dy, const float* x, int64_t rows, int64_t channels, const float* a, const float* b,
                  const float* shift, const ChannelMask& mask, float* dx);
};

namespace portable {
extern const BatchNormTable kBatchNormTable;
}
#if defined(__x86_64__)
namespace avx2 {
extern const BatchNormTable kBatchNormTable;
}
namespace avx512 {
extern const BatchNormTable kBatchNormTable;
}
#endif

}  // namespace weir::cpu
