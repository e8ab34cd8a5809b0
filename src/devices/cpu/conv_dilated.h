#pragma once

#include "devices/cpu/conv_internal.h"

namespace weir::cpu {

// Dilated convolutions by Winograd's method: pixels that lie the dilation apart see each other alone, so that each such
// set is an image of its own, which the filter without dilation moves over. In float; the contracts are those of
// conv.h.
bool separating_pays(const ConvParams& p, bool to_input);
size_t separated_forward_scratch_bytes(const ConvParams& p, int threads);
size_t separated_backward_input_scratch_bytes(const ConvParams& p, int threads);
size_t separated_backward_filter_scratch_bytes(const ConvParams& p, int threads);
void separated_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                       const Epilogue<float>& epilogue, float* output, void* scratch);
void separated_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                              float* input_grad, void* scratch);
void separated_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                               float* filter_grad, void* scratch);

template <class T>
bool uses_separation(const ConvParams& p, bool to_input = false) {
  return std::is_same_v<T, float> && p.winograd && separating_pays(p, to_input);
}

}  // namespace weir::cpu
