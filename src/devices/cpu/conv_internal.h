#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "devices/cpu/conv.h"

namespace weir::cpu {

inline int64_t divide_up(int64_t x, int64_t y) { return (x + y - 1) / y; }
inline int64_t round_up(int64_t x, int64_t y) { return divide_up(x, y) * y; }

// An odd number of cache lines keeps pieces of this size that are used side by side in different sets.
inline int64_t odd_lines(int64_t elements) { return (divide_up(elements, 16) | 1) * 16; }

// The same convolution without a width where the filter is as wide as the image, as those over words of a text are: in
// memory a row of such images is one pixel of many channels. Tap by tap, nearly all products would be with padding.
inline ConvParams with_rows_as_pixels(ConvParams p) {
  if (p.k_w != p.in_w || p.pad_left != 0 || p.pad_right != 0 || p.dilation_w != 1) return p;
  p.in_c *= p.in_w;
  p.in_w = p.k_w = p.stride_w = 1;
  return p;
}

// Convolutions that are one matrix product over the memory as it lies: of single pixels, and of whole images.
inline bool is_matrix_product(const ConvParams& p) {
  const bool unpadded = p.pad_top == 0 && p.pad_bottom == 0 && p.pad_left == 0 && p.pad_right == 0;
  const bool pixels = p.k_h == 1 && p.k_w == 1 && p.stride_h == 1 && p.stride_w == 1;
  const bool images = p.k_h == p.in_h && p.k_w == p.in_w && p.dilation_h == 1 && p.dilation_w == 1;
  return unpadded && (pixels || images);
}

template <class T>
Gemm<T> forward_product(const ConvParams& p) {
  const int64_t m = p.batch * p.out_h() * p.out_w(), k = p.k_h * p.k_w * p.in_c, n = p.out_c;
  return {.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
}
template <class T>
Gemm<T> backward_input_product(const ConvParams& p) {
  const int64_t m = p.batch * p.out_h() * p.out_w(), k = p.out_c, n = p.k_h * p.k_w * p.in_c;
  return {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .transpose_b = true, .ldc = n};
}
template <class T>
Gemm<T> backward_filter_product(const ConvParams& p) {
  const int64_t m = p.k_h * p.k_w * p.in_c, k = p.batch * p.out_h() * p.out_w(), n = p.out_c;
  return {.m = m, .n = n, .k = k, .lda = m, .transpose_a = true, .ldb = n, .ldc = n};
}

// Pixels that were stacked two by two (conv_stacked.h) meet filters some of whose taps are zero: their first along an
// axis for all pixels of even rows or columns, or their last for those of odd ones. Winograd's method leaves out what
// it would multiply with these taps alone, at the points 0 and infinity.
struct Stacking {
  int64_t channels = 0;  // of a pixel; a stack has four times as many. 0: nothing is stacked
  bool first_h = false, last_h = false, first_w = false, last_w = false;
  // Of the images where they are read and written as they are, without a copy that is stacked, or 0; the first stacks
  // begin so many rows and columns before them.
  int64_t height = 0, width = 0;
  int64_t before_h = 0, before_w = 0;

  // Plane (i, j) of tile x tile ones needs none of the channels [begin, end) of the stacks but those of the result,
  // which may be empty. `turned`: the filter is turned around.
  struct Range {
    int64_t begin, end;
    bool empty() const { return begin >= end; }
  };
  Range used(int64_t plane, int64_t tile, bool turned, int64_t begin, int64_t end) const;
  // Products that are left, of those with all channels.
  double share(int64_t tile) const;
};

// Winograd's method, for the shapes where it pays (conv_winograd.cc). The contracts are those of conv.h.
bool winograd_pays(const ConvParams& p);
// What it costs for a pair of channels, backward to the input or in the other directions, in products of the direct
// method; infinite where there is no such method.
double winograd_products(const ConvParams& p, bool to_input, const Stacking& stacking = {});
// Products of the direct method for a pair of channels: it leaves out the taps that lie beside the image.
int64_t direct_products(const ConvParams& p);
size_t winograd_forward_scratch_bytes(const ConvParams& p, int threads);
size_t winograd_backward_input_scratch_bytes(const ConvParams& p, int threads);
size_t winograd_backward_filter_scratch_bytes(const ConvParams& p, int threads, const Stacking& stacking = {});
void winograd_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                      const Epilogue<float>& epilogue, float* output, void* scratch, const Stacking& stacking = {});
void winograd_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                             float* input_grad, void* scratch, const Stacking& stacking = {});
// What belongs to taps that are zero is not defined.
void winograd_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                              float* filter_grad, void* scratch, const Stacking& stacking = {});

template <class T>
bool uses_winograd(const ConvParams& p) {
  return std::is_same_v<T, float> && p.winograd && winograd_pays(p);
}

// Applies an epilogue to some pixels of images, from pixel `first` on.
template <class T>
void finish_pixels(const Epilogue<T>& e, int64_t first, int64_t pixels, int64_t channels, T* images) {
  if (!e.bias && !e.scale && !e.side && e.activation == Activation::None) return;
  for (int64_t i = first * channels; i < (first + pixels) * channels; i += channels) {
    for (int64_t c = 0; c < channels; ++c) images[i + c] = finished(images[i + c], e, c, i + c);
  }
}

inline bool has_output(const ConvParams& p) { return p.batch > 0 && p.out_h() > 0 && p.out_w() > 0 && p.out_c > 0; }
inline bool has_input(const ConvParams& p) { return p.batch > 0 && p.in_h > 0 && p.in_w > 0 && p.in_c > 0; }

// Hands out pieces of scratch memory. Without memory it only counts, so that one function describes the layout.
class Carver {
 public:
  explicit Carver(void* base) : base_(static_cast<char*>(base)) {}

  template <class T>
  T* take(int64_t count) {
    const size_t at = used_;
    used_ += (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

// A window of images with zeros around: [rows, width, channels] with a pitch from row to row.
struct Window {
  int64_t height = 0, width = 0, channels = 0;  // of the image
  int64_t row_origin = 0, column_origin = 0;    // of the window, in the image; may be negative
  int64_t rows = 0, columns = 0;                // of the window; may reach beyond the image

  bool inside() const {
    return row_origin >= 0 && column_origin >= 0 && row_origin + rows <= height && column_origin + columns <= width;
  }

  // Rows a multiple of a page part from each other would share few sets of the cache.
  static int64_t pitch(int64_t columns, int64_t channels) {
    const int64_t dense = std::max<int64_t>(columns * channels, 1);
    return dense % 256 == 0 ? dense + 16 : dense;
  }
};

template <class T>
void copy_window(const Window& window, const T* image, int64_t pitch, T* to) {
  const int64_t c = window.channels;
  const int64_t left = std::clamp<int64_t>(-window.column_origin, 0, window.columns);
  const int64_t right = std::clamp<int64_t>(window.width - window.column_origin, left, window.columns);
  for (int64_t i = 0; i < window.rows; ++i, to += pitch) {
    const int64_t row = window.row_origin + i;
    if (row < 0 || row >= window.height) {
      std::fill_n(to, window.columns * c, T(0));
      continue;
    }
    std::fill_n(to, left * c, T(0));
    std::copy_n(image + (row * window.width + window.column_origin + left) * c, (right - left) * c, to + left * c);
    std::fill_n(to + right * c, (window.columns - right) * c, T(0));
  }
}

}  // namespace weir::cpu
