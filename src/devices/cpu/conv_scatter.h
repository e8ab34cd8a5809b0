#pragma once

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {

// Convolutions whose result has few channels, as the last ones of a generator or an autoencoder: vectors of result
// channels would be nearly empty. Each pixel of the operand is multiplied with all taps at once, a matrix product with
// taps * channels columns, and the products are added up where they belong. The contracts are those of conv.h.
bool scatters_forward(const ConvParams& p);
bool scatters_backward_input(const ConvParams& p);
template <class T>
size_t scatter_forward_scratch_bytes(const ConvParams& p, int threads);
template <class T>
size_t scatter_backward_input_scratch_bytes(const ConvParams& p, int threads);
template <class T>
void scatter_forward(ThreadPool& pool, const ConvParams& p, const T* input, const T* filter,
                     const Epilogue<T>& epilogue, T* output, void* scratch);
template <class T>
void scatter_backward_input(ThreadPool& pool, const ConvParams& p, const T* filter, const T* output_grad, T* input_grad,
                            void* scratch);

}  // namespace weir::cpu
