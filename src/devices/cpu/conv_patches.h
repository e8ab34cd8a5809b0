#pragma once

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {

// Convolutions as products with a matrix of patches, one row for each pixel of the output. A copy of the patches pays
// where it is small beside the products: for single pixels at a stride, and for outputs of few pixels, whose time goes
// into reading the filter, which products do best. The contracts are those of conv.h.
bool multiplies_patches(const ConvParams& p);
// The gradients, for single pixels at a stride.
bool multiplies_pixels(const ConvParams& p);
template <class T>
size_t patches_forward_scratch_bytes(const ConvParams& p, int threads);
template <class T>
size_t pixels_backward_filter_scratch_bytes(const ConvParams& p, int threads);
template <class T>
size_t pixels_backward_input_scratch_bytes(const ConvParams& p, int threads);
template <class T>
void patches_forward(ThreadPool& pool, const ConvParams& p, const T* input, const T* filter,
                     const Epilogue<T>& epilogue, T* output, void* scratch);
template <class T>
void pixels_backward_filter(ThreadPool& pool, const ConvParams& p, const T* input, const T* output_grad, T* filter_grad,
                            void* scratch);

template <class T>
void pixels_backward_input(ThreadPool& pool, const ConvParams& p, const T* filter, const T* output_grad, T* input_grad,
                           void* scratch);

}  // namespace weir::cpu
