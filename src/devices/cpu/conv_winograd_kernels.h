#pragma once

#include <cstdint>

#include "devices/cpu/gemm_kernels.h"

namespace weir::cpu {

// Winograd's method computes m x m pixels of a convolution with an r x r filter from t x t pixels of the source, m + r
// = t + 1, by t^2 products of transformed pixels with transformed taps instead of (m r)^2,
//
//   output = A^T [ (G filter G^T) * (B^T data B) ] A       * : element by element, for all channels a matrix product
//
// and its adjoint for the gradient of the filter,
//
//   filter_grad = G^T [ (A output_grad A^T) * (B^T data B) ] G.
//
// The points are 0, 1, -1, 2, -2 and infinity for tiles of 6, and 1/2 and -1/2 too for tiles of 8.
//
// The t^2 elements of a transform lie `plane` elements from each other. All functions treat `channels` channels of one
// tile or one row of the filter.
struct WinogradKernels {
  int64_t tile, taps;  // t and r

  // B^T data B of the t x t pixels.
  void (*data)(const float* const* pixels, int64_t channels, float* to, int64_t plane);

  // A^T x A with the epilogue, to the m x m pixels of the images `to`; null where a pixel lies beyond them.
  void (*output)(const float* from, int64_t plane, int64_t channels, const Epilogue<float>& epilogue, const float* to,
                 float* const* pixels);

  // A output_grad A^T of the m x m pixels.
  void (*output_grad)(const float* const* pixels, int64_t channels, float* to, int64_t plane);

  // G filter G^T of r x r vectors that lie `tap` elements from each other (backward when tap < 0).
  void (*filter)(const float* filter, int64_t tap, int64_t channels, float* to, int64_t plane);

  // G^T x G to r x r vectors.
  void (*filter_grad)(const float* from, int64_t plane, int64_t channels, float* to, int64_t tap);
};

// Tiles of 6 and of 8 for filters of 2 x 2 and 3 x 3, and of 8 for those of 4 x 4 and 5 x 5.
constexpr int kWinogradVariants = 6;

namespace portable {
extern const WinogradKernels kWinograd[kWinogradVariants];
}
#if defined(__x86_64__)
namespace avx2 {
extern const WinogradKernels kWinograd[kWinogradVariants];
}
namespace avx512 {
extern const WinogradKernels kWinograd[kWinogradVariants];
}
#endif

}  // namespace weir::cpu
