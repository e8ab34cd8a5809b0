#pragma once

#include "devices/cpu/conv.h"

namespace weir::cpu {

// A convolution of volumes: input [batch, in_d, in_h, in_w, in_c], filter [k_d, k_h, k_w, in_c, out_c], output
// [batch, out_d, out_h, out_w, out_c]. The depth has its own sizes; those of a plane, and the batch, are in `plane`.
struct Conv3dParams {
  ConvParams plane;
  int64_t in_d = 0, k_d = 0;
  int64_t stride_d = 1, dilation_d = 1;
  int64_t pad_front = 0, pad_back = 0;

  int64_t out_d() const {
    const int64_t padded = in_d + pad_front + pad_back, window = (k_d - 1) * dilation_d + 1;
    return padded < window ? 0 : (padded - window) / stride_d + 1;
  }
};

// As in conv.h, scratch memory and contracts included.
template <class T>
size_t conv3d_forward_scratch_bytes(const Conv3dParams& params, int threads);
template <class T>
size_t conv3d_backward_input_scratch_bytes(const Conv3dParams& params, int threads);
template <class T>
size_t conv3d_backward_filter_scratch_bytes(const Conv3dParams& params, int threads);

template <class T>
void conv3d_forward(ThreadPool& pool, const Conv3dParams& params, const T* input, const T* filter, T* output,
                    void* scratch);
template <class T>
void conv3d_backward_input(ThreadPool& pool, const Conv3dParams& params, const T* filter, const T* output_grad,
                           T* input_grad, void* scratch);
template <class T>
void conv3d_backward_filter(ThreadPool& pool, const Conv3dParams& params, const T* input, const T* output_grad,
                            T* filter_grad, void* scratch);

}  // namespace weir::cpu
