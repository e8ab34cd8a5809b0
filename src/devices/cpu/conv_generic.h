#pragma once

#include <algorithm>

#include "base/thread_pool.h"
#include "devices/cpu/conv.h"
#include "devices/cpu/gemm_generic.h"

namespace weir::cpu {

// Convolutions of the types for which conv.h is not built (half, bfloat16, integers): plain loops, parallel over
// images or taps, sums taken in GemmSum<T>.

namespace internal {

// The input row or column under a tap, or -1 outside of the image.
inline int64_t under_tap(int64_t out, int64_t tap, int64_t stride, int64_t dilation, int64_t pad, int64_t size) {
  const int64_t at = out * stride + tap * dilation - pad;
  return at >= 0 && at < size ? at : -1;
}

// The output row or column that has this input under this tap, or -1.
inline int64_t above_tap(int64_t in, int64_t tap, int64_t stride, int64_t dilation, int64_t pad, int64_t size) {
  const int64_t at = in + pad - tap * dilation;
  return at >= 0 && at % stride == 0 && at / stride < size ? at / stride : -1;
}

}  // namespace internal

template <class T>
void conv_forward_generic(ThreadPool& pool, const ConvParams& p, const T* input, const T* filter, T* output) {
  using Sum = typename GemmSum<T>::Type;
  const int64_t out_h = p.out_h(), out_w = p.out_w();
  pool.parallel_for(p.batch * out_h, 1, [&](int64_t begin, int64_t) {
    const int64_t image = begin / out_h, y = begin % out_h;
    for (int64_t x = 0; x < out_w; ++x) {
      for (int64_t o = 0; o < p.out_c; ++o) {
        Sum sum(0);
        for (int64_t h = 0; h < p.k_h; ++h) {
          const int64_t row = internal::under_tap(y, h, p.stride_h, p.dilation_h, p.pad_top, p.in_h);
          for (int64_t w = 0; row >= 0 && w < p.k_w; ++w) {
            const int64_t column = internal::under_tap(x, w, p.stride_w, p.dilation_w, p.pad_left, p.in_w);
            if (column < 0) continue;
            const T* from = input + ((image * p.in_h + row) * p.in_w + column) * p.in_c;
            const T* weights = filter + (h * p.k_w + w) * p.in_c * p.out_c + o;
            for (int64_t c = 0; c < p.in_c; ++c) {
              sum += static_cast<Sum>(from[c]) * static_cast<Sum>(weights[c * p.out_c]);
            }
          }
        }
        output[((image * out_h + y) * out_w + x) * p.out_c + o] = static_cast<T>(sum);
      }
    }
  });
}

template <class T>
void conv_backward_input_generic(ThreadPool& pool, const ConvParams& p, const T* filter, const T* output_grad,
                                 T* input_grad) {
  using Sum = typename GemmSum<T>::Type;
  const int64_t out_h = p.out_h(), out_w = p.out_w();
  pool.parallel_for(p.batch * p.in_h, 1, [&](int64_t begin, int64_t) {
    const int64_t image = begin / p.in_h, row = begin % p.in_h;
    for (int64_t column = 0; column < p.in_w; ++column) {
      for (int64_t c = 0; c < p.in_c; ++c) {
        Sum sum(0);
        for (int64_t h = 0; h < p.k_h; ++h) {
          const int64_t y = internal::above_tap(row, h, p.stride_h, p.dilation_h, p.pad_top, out_h);
          for (int64_t w = 0; y >= 0 && w < p.k_w; ++w) {
            const int64_t x = internal::above_tap(column, w, p.stride_w, p.dilation_w, p.pad_left, out_w);
            if (x < 0) continue;
            const T* from = output_grad + ((image * out_h + y) * out_w + x) * p.out_c;
            const T* weights = filter + ((h * p.k_w + w) * p.in_c + c) * p.out_c;
            for (int64_t o = 0; o < p.out_c; ++o) sum += static_cast<Sum>(from[o]) * static_cast<Sum>(weights[o]);
          }
        }
        input_grad[((image * p.in_h + row) * p.in_w + column) * p.in_c + c] = static_cast<T>(sum);
      }
    }
  });
}

template <class T>
void conv_backward_filter_generic(ThreadPool& pool, const ConvParams& p, const T* input, const T* output_grad,
                                  T* filter_grad) {
  using Sum = typename GemmSum<T>::Type;
  const int64_t out_h = p.out_h(), out_w = p.out_w();
  pool.parallel_for(p.k_h * p.k_w * p.in_c, 1, [&](int64_t begin, int64_t) {
    const int64_t c = begin % p.in_c, w = begin / p.in_c % p.k_w, h = begin / p.in_c / p.k_w;
    for (int64_t o = 0; o < p.out_c; ++o) {
      Sum sum(0);
      for (int64_t image = 0; image < p.batch; ++image) {
        for (int64_t y = 0; y < out_h; ++y) {
          const int64_t row = internal::under_tap(y, h, p.stride_h, p.dilation_h, p.pad_top, p.in_h);
          for (int64_t x = 0; row >= 0 && x < out_w; ++x) {
            const int64_t column = internal::under_tap(x, w, p.stride_w, p.dilation_w, p.pad_left, p.in_w);
            if (column < 0) continue;
            sum += static_cast<Sum>(input[((image * p.in_h + row) * p.in_w + column) * p.in_c + c]) *
                   static_cast<Sum>(output_grad[((image * out_h + y) * out_w + x) * p.out_c + o]);
          }
        }
      }
      filter_grad[begin * p.out_c + o] = static_cast<T>(sum);
    }
  });
}

}  // namespace weir::cpu
