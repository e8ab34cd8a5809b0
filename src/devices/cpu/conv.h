#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "devices/cpu/gemm.h"

namespace weir::cpu {

// A two-dimensional convolution: input [batch, in_h, in_w, in_c], filter [k_h, k_w, in_c, out_c], output
// [batch, out_h, out_w, out_c]. Strides and dilations are at least 1, pads at least 0.
struct ConvParams {
  int64_t batch = 0;
  int64_t in_h = 0, in_w = 0, in_c = 0;
  int64_t k_h = 0, k_w = 0, out_c = 0;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  // Allows Winograd's method for float where it is faster, two to four times for 3x3 and 5x5 filters of stride 1. Its
  // rounding errors are about ten times those of the plain sum.
  bool winograd = true;

  int64_t out_h() const { return out_size(in_h + pad_top + pad_bottom, (k_h - 1) * dilation_h + 1, stride_h); }
  int64_t out_w() const { return out_size(in_w + pad_left + pad_right, (k_w - 1) * dilation_w + 1, stride_w); }

 private:
  static int64_t out_size(int64_t padded, int64_t window, int64_t stride) {
    return padded < window ? 0 : (padded - window) / stride + 1;
  }
};

// Bytes of scratch memory for each of the three on this many threads. T is float or double.
template <class T>
size_t conv_forward_scratch_bytes(const ConvParams& params, int threads);
template <class T>
size_t conv_backward_input_scratch_bytes(const ConvParams& params, int threads);
template <class T>
size_t conv_backward_filter_scratch_bytes(const ConvParams& params, int threads);

// All three: `scratch` is aligned to 64 bytes, results overlap no operand, and have the same bits for any number of
// threads. Thread-safe as long as scratch and results are not shared.

// output = epilogue(conv(input, filter))
template <class T>
void conv_forward(ThreadPool& pool, const ConvParams& params, const T* input, const T* filter,
                  const Epilogue<T>& epilogue, T* output, void* scratch);

template <class T>
void conv_backward_input(ThreadPool& pool, const ConvParams& params, const T* filter, const T* output_grad,
                         T* input_grad, void* scratch);

template <class T>
void conv_backward_filter(ThreadPool& pool, const ConvParams& params, const T* input, const T* output_grad,
                          T* filter_grad, void* scratch);

}  // namespace weir::cpu
