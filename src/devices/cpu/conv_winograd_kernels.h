#pragma once

#include <cstdint>

#include "devices/cpu/gemm_kernels.h"

namespace weir::cpu {

// Winograd's method computes m x m pixels of a convolution with an r x r filter from 8 x 8 pixels of the source, m + r
// = 9, by 64 products of transformed pixels with transformed taps instead of (m r)^2: with the points 0, 1, -1, 2, -2,
// 1/2, -1/2 and infinity,
//
//   output = A^T [ (G filter G^T) * (B^T data B) ] A       * : element by element, for all channels a matrix product
//
// and its adjoint for the gradient of the filter,
//
//   filter_grad = G^T [ (A output_grad A^T) * (B^T data B) ] G.
//
// The 64 elements of a transform lie `plane` elements from each other. All functions treat `channels` channels of one
// tile or one row of the filter.
struct WinogradKernels {
  // B^T data B of the 8 x 8 pixels.
  void (*data)(const float* const* pixels, int64_t channels, float* to, int64_t plane);

  // A^T x A with the epilogue, to the m x m pixels; null where a pixel lies beyond the output.
  void (*output)(int64_t r, const float* from, int64_t plane, int64_t channels, const float* bias,
                 Activation activation, float* const* pixels);

  // A output_grad A^T of the m x m pixels.
  void (*output_grad)(int64_t r, const float* const* pixels, int64_t channels, float* to, int64_t plane);

  // G filter G^T of r x r vectors that lie `tap` elements from each other (backward when tap < 0).
  void (*filter)(int64_t r, const float* filter, int64_t tap, int64_t channels, float* to, int64_t plane);

  // G^T x G to r x r vectors.
  void (*filter_grad)(int64_t r, const float* from, int64_t plane, int64_t channels, float* to, int64_t tap);
};

namespace portable {
extern const WinogradKernels kWinograd;
}
#if defined(__x86_64__)
namespace avx2 {
extern const WinogradKernels kWinograd;
}
namespace avx512 {
extern const WinogradKernels kWinograd;
}
#endif

}  // namespace weir::cpu
