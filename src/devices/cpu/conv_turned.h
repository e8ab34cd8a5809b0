#pragma once

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {

// The gradient of a filter whose results have few channels, at a stride of 1: vectors of result channels would be
// nearly empty. The image and the output's gradient change places, which gives the filter with its taps in reverse
// order and its channels exchanged. The contracts are those of conv.h.
bool turns_filter(const ConvParams& p);
template <class T>
size_t turned_backward_filter_scratch_bytes(const ConvParams& p, int threads);
template <class T>
void turned_backward_filter(ThreadPool& pool, const ConvParams& p, const T* input, const T* output_grad, T* filter_grad,
                            void* scratch);

}  // namespace weir::cpu
