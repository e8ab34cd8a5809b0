#pragma once

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {

// Convolutions at a stride of two, by Winograd's method: pixels are stacked two by two, four times the channels, and a
// filter of half the size, rounded up, moves over the stacks one by one. A 5 x 5 filter becomes one of 3 x 3. In float;
// the contracts are those of conv.h.
bool stacking_pays(const ConvParams& p, bool to_input);
size_t stacked_forward_scratch_bytes(const ConvParams& p, int threads);
size_t stacked_backward_input_scratch_bytes(const ConvParams& p, int threads);
size_t stacked_backward_filter_scratch_bytes(const ConvParams& p, int threads);
void stacked_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                     const Epilogue<float>& epilogue, float* output, void* scratch);
void stacked_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                            float* input_grad, void* scratch);
void stacked_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                             float* filter_grad, void* scratch);

template <class T>
bool uses_stacks(const ConvParams& p, bool to_input = false) {
  return std::is_same_v<T, float> && p.winograd && stacking_pays(p, to_input);
}

}  // namespace weir::cpu
