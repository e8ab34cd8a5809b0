#include "devices/cpu/conv_turned.h"

#include "devices/cpu/conv.h"

namespace weir::cpu {
namespace {

constexpr int64_t kFewChannels = 4, kManyChannels = 16;

int64_t reach(int64_t taps, int64_t dilation) { return (taps - 1) * dilation; }

// The convolution over the output's gradient whose results are the image.
ConvParams turned(const ConvParams& p) {
  ConvParams t = p;
  const int64_t down = reach(p.k_h, p.dilation_h), across = reach(p.k_w, p.dilation_w);
  t.in_h = p.out_h();
  t.in_w = p.out_w();
  t.in_c = p.out_c;
  t.out_c = p.in_c;
  t.pad_top = down - p.pad_top;
  t.pad_bottom = down - p.pad_bottom;
  t.pad_left = across - p.pad_left;
  t.pad_right = across - p.pad_right;
  return t;
}

template <class T>
size_t filter_bytes(const ConvParams& p) {
  const auto bytes = static_cast<size_t>(p.k_h * p.k_w * p.in_c * p.out_c) * sizeof(T);
  return (bytes + 63) / 64 * 64;
}

}  // namespace

bool turns_filter(const ConvParams& p) {
  const int64_t down = reach(p.k_h, p.dilation_h), across = reach(p.k_w, p.dilation_w);
  return p.stride_h == 1 && p.stride_w == 1 && p.out_c <= kFewChannels && p.in_c >= kManyChannels &&
         p.pad_top <= down && p.pad_bottom <= down && p.pad_left <= across && p.pad_right <= across;
}

template <class T>
size_t turned_backward_filter_scratch_bytes(const ConvParams& p, int threads) {
  return filter_bytes<T>(p) + conv_backward_filter_scratch_bytes<T>(turned(p), threads);
}

template <class T>
void turned_backward_filter(ThreadPool& pool, const ConvParams& p, const T* input, const T* output_grad, T* filter_grad,
                            void* scratch) {
  T* reversed = static_cast<T*>(scratch);
  conv_backward_filter<T>(pool, turned(p), output_grad, input, reversed,
                          static_cast<char*>(scratch) + filter_bytes<T>(p));
  const int64_t taps = p.k_h * p.k_w, size = p.in_c * p.out_c;
  for (int64_t tap = 0; tap < taps; ++tap, filter_grad += size) {
    const T* from = reversed + (taps - 1 - tap) * size;
    for (int64_t i = 0; i < p.in_c; ++i) {
      for (int64_t o = 0; o < p.out_c; ++o) filter_grad[i * p.out_c + o] = from[o * p.in_c + i];
    }
  }
}

template size_t turned_backward_filter_scratch_bytes<float>(const ConvParams&, int);
template size_t turned_backward_filter_scratch_bytes<double>(const ConvParams&, int);
template void turned_backward_filter(ThreadPool&, const ConvParams&, const float*, const float*, float*, void*);
template void turned_backward_filter(ThreadPool&, const ConvParams&, const double*, const double*, double*, void*);

}  // namespace weir::cpu
