#include "devices/cpu/conv_patches.h"

namespace weir::cpu {
namespace {

constexpr int64_t kFewPixels = 128;

bool has_full_vectors(const ConvParams& p) { return p.in_c >= 16 && p.out_c >= 16; }

int64_t output_pixels(const ConvParams& p) { return p.batch * p.out_h() * p.out_w(); }

template <class T>
size_t patch_bytes(const ConvParams& p) {
  return (static_cast<size_t>(output_pixels(p) * p.k_h * p.k_w * p.in_c) * sizeof(T) + 63) / 64 * 64;
}

// Row by row of the output: [pixels, k_h, k_w, in_c], with zeros beyond the image.
template <class T>
void copy_patches(ThreadPool& pool, const ConvParams& p, const T* input, T* patches) {
  const int64_t out_h = p.out_h(), out_w = p.out_w(), size = p.k_h * p.k_w * p.in_c;
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, out_w * size));
  pool.parallel_for(p.batch * out_h, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* image = input + row / out_h * p.in_h * p.in_w * p.in_c;
      T* to = patches + row * out_w * size;
      for (int64_t x = 0; x < out_w; ++x) {
        for (int64_t h = 0; h < p.k_h; ++h) {
          const int64_t y = row % out_h * p.stride_h + h * p.dilation_h - p.pad_top;
          for (int64_t w = 0; w < p.k_w; ++w, to += p.in_c) {
            const int64_t column = x * p.stride_w + w * p.dilation_w - p.pad_left;
            if (y < 0 || y >= p.in_h || column < 0 || column >= p.in_w) {
              std::fill_n(to, p.in_c, T(0));
            } else {
              std::copy_n(image + (y * p.in_w + column) * p.in_c, p.in_c, to);
            }
          }
        }
      }
    }
  });
}

// The reverse for single pixels: zeros where no patch lies.
template <class T>
void spread_pixels(ThreadPool& pool, const ConvParams& p, const T* pixels, T* input_grad) {
  const int64_t out_h = p.out_h(), out_w = p.out_w(), row_size = p.in_w * p.in_c;
  // The place in the output of row or column i of the input, or -1.
  auto place = [](int64_t i, int64_t pad, int64_t stride, int64_t out) {
    return (i + pad) % stride == 0 && (i + pad) / stride < out ? (i + pad) / stride : -1;
  };
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, row_size));
  pool.parallel_for(p.batch * p.in_h, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t y = place(row % p.in_h, p.pad_top, p.stride_h, out_h);
      const T* from = pixels + (row / p.in_h * out_h + std::max<int64_t>(y, 0)) * out_w * p.in_c;
      T* to = input_grad + row * row_size;
      std::fill_n(to, row_size, T(0));
      for (int64_t x = 0; y >= 0 && x < p.in_w; ++x) {
        const int64_t column = place(x, p.pad_left, p.stride_w, out_w);
        if (column >= 0) std::copy_n(from + column * p.in_c, p.in_c, to + x * p.in_c);
      }
    }
  });
}

}  // namespace

bool multiplies_patches(const ConvParams& p) {
  return has_full_vectors(p) && (p.k_h * p.k_w == 1 || output_pixels(p) <= kFewPixels);
}
bool multiplies_pixels(const ConvParams& p) { return has_full_vectors(p) && p.k_h * p.k_w == 1; }

template <class T>
size_t patches_forward_scratch_bytes(const ConvParams& p, int threads) {
  return patch_bytes<T>(p) + gemm_scratch_bytes(forward_product<T>(p), threads);
}
template <class T>
size_t pixels_backward_filter_scratch_bytes(const ConvParams& p, int threads) {
  return patch_bytes<T>(p) + gemm_scratch_bytes(backward_filter_product<T>(p), threads);
}

template <class T>
size_t pixels_backward_input_scratch_bytes(const ConvParams& p, int threads) {
  return patch_bytes<T>(p) + gemm_scratch_bytes(backward_input_product<T>(p), threads);
}

template <class T>
void patches_forward(ThreadPool& pool, const ConvParams& p, const T* input, const T* filter,
                     const Epilogue<T>& epilogue, T* output, void* scratch) {
  T* patches = static_cast<T*>(scratch);
  copy_patches(pool, p, input, patches);
  Gemm<T> g = forward_product<T>(p);
  g.a = patches;
  g.b = filter;
  g.c = output;
  g.epilogue = epilogue;
  gemm(pool, g, static_cast<char*>(scratch) + patch_bytes<T>(p));
}

template <class T>
void pixels_backward_filter(ThreadPool& pool, const ConvParams& p, const T* input, const T* output_grad, T* filter_grad,
                            void* scratch) {
  T* patches = static_cast<T*>(scratch);
  copy_patches(pool, p, input, patches);
  Gemm<T> g = backward_filter_product<T>(p);
  g.a = patches;
  g.b = output_grad;
  g.c = filter_grad;
  gemm(pool, g, static_cast<char*>(scratch) + patch_bytes<T>(p));
}

template <class T>
void pixels_backward_input(ThreadPool& pool, const ConvParams& p, const T* filter, const T* output_grad, T* input_grad,
                           void* scratch) {
  T* pixels = static_cast<T*>(scratch);
  Gemm<T> g = backward_input_product<T>(p);
  g.a = output_grad;
  g.b = filter;
  g.c = pixels;
  gemm(pool, g, static_cast<char*>(scratch) + patch_bytes<T>(p));
  spread_pixels(pool, p, pixels, input_grad);
}

#define WEIR_INSTANTIATE(T)                                                                                         \
  template size_t patches_forward_scratch_bytes<T>(const ConvParams&, int);                                         \
  template size_t pixels_backward_filter_scratch_bytes<T>(const ConvParams&, int);                                  \
  template size_t pixels_backward_input_scratch_bytes<T>(const ConvParams&, int);                                   \
  template void pixels_backward_input(ThreadPool&, const ConvParams&, const T*, const T*, T*, void*);               \
  template void patches_forward(ThreadPool&, const ConvParams&, const T*, const T*, const Epilogue<T>&, T*, void*); \
  template void pixels_backward_filter(ThreadPool&, const ConvParams&, const T*, const T*, T*, void*);
WEIR_INSTANTIATE(float)
WEIR_INSTANTIATE(double)
#undef WEIR_INSTANTIATE

}  // namespace weir::cpu
