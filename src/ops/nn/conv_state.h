#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "devices/cpu/conv.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"
#include "ops/nn/epilogue.h"
#include "ops/nn/window.h"

namespace weir::ops {

// Convolutions are computed in float or double on NHWC images. Operands of other types or layouts are staged: copied
// into scratch memory in that form, and the result copied back. Those of groups of channels are staged group by group.
template <class T>
using ConvCompute = std::conditional_t<std::is_same_v<T, double>, double, float>;

// What a convolution works out when its plan is made.
struct ConvState {
  ConvGeometry geometry;
  cpu::ConvParams params;
  bool stage_images = false, stage_filter = false;
  size_t input_at = 0, filter_at = 0, output_at = 0;  // of staged operands in the scratch memory
  Epilogue epilogue;                                  // of a fused one
  float epsilon = 0;
  size_t epilogue_at = 0;  // of what it needs in the scratch memory
};

enum class ConvKind { Forward, BackwardInput, BackwardFilter };
// Works out the state and asks for scratch memory. REQUIRES: attribute "T" is a floating type.
ConvState prepare_conv(PrepareContext& c, ConvKind kind, const Shape& input, const Shape& filter);

// Places the operands that the state's geometry wants staged behind `bytes` of scratch memory, and asks for all of it.
void place_operands(PrepareContext& c, ConvState& state, size_t bytes);

// Calls body(image, first pixel, pixels) for blocks of pixels.
template <class Body>
void for_pixels(int64_t batch, int64_t pixels, int64_t channels, ThreadPool& pool, const Body& body) {
  const int64_t block = 64, blocks = (pixels + block - 1) / block;
  pool.parallel_for(batch * blocks, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, block * channels)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        const int64_t first = i % blocks * block;
                        body(i / blocks, first, std::min(block, pixels - first));
                      }
                    });
}
template <class T, class C>
void copy_elements(const T* from, int64_t n, C* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<C>(from[i]);
}
// to[j * to_step + t] = from[t * step + j] for t < rows and j < columns.
template <class T, class C>
void transpose_elements(const T* from, int64_t step, int64_t rows, int64_t columns, C* to, int64_t to_step) {
  if constexpr (std::is_same_v<T, C> && (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
    cpu::gemm_kernels<T>(cpu::isa()).transpose(from, step, rows, columns, to, to_step);
  } else {
    for (int64_t t = 0; t < rows; ++t) {
      for (int64_t j = 0; j < columns; ++j) to[j * to_step + t] = static_cast<C>(from[t * step + j]);
    }
  }
}

// Copies a group of the channels of images of the layout to NHWC and back: `width` of them from `first` on.
// [rows, columns, channels] are the images' sizes.
struct ChannelGroup {
  int64_t first, width;
};
template <class T, class C>
void image_to_nhwc(const ImageLayout& layout, int64_t batch, int64_t rows, int64_t columns, int64_t channels,
                   ChannelGroup group, const T* from, C* to, ThreadPool& pool) {
  const ImageStrides s = image_strides(layout, rows, columns, channels);
  for_pixels(batch, rows * columns, group.width, pool, [&](int64_t image, int64_t pixel, int64_t count) {
    const T* in = from + image * s.batch + pixel * s.width + group.first * s.channels;
    C* out = to + (image * rows * columns + pixel) * group.width;
    if (s.channels != 1) return transpose_elements(in, s.channels, group.width, count, out, group.width);
    if (group.width == channels) return copy_elements(in, count * channels, out);
    for (int64_t i = 0; i < count; ++i) copy_elements(in + i * channels, group.width, out + i * group.width);
  });
}
template <class T, class C>
void image_from_nhwc(const ImageLayout& layout, int64_t batch, int64_t rows, int64_t columns, int64_t channels,
                     ChannelGroup group, const C* from, T* to, ThreadPool& pool) {
  const ImageStrides s = image_strides(layout, rows, columns, channels);
  for_pixels(batch, rows * columns, group.width, pool, [&](int64_t image, int64_t pixel, int64_t count) {
    const C* in = from + (image * rows * columns + pixel) * group.width;
    T* out = to + image * s.batch + pixel * s.width + group.first * s.channels;
    if (s.channels != 1) return transpose_elements(in, group.width, count, group.width, out, s.channels);
    if (group.width == channels) return copy_elements(in, count * channels, out);
    for (int64_t i = 0; i < count; ++i) copy_elements(in + i * group.width, group.width, out + i * channels);
  });
}

// The operands of one run of a convolution, as the computation wants them.
template <class T>
class ConvOperands {
 public:
  using C = ConvCompute<T>;
  ConvOperands(KernelContext& c, const ConvState& state) : c_(c), s_(state) {}

  const C* input(const T* from) const {
    const ConvGeometry& g = s_.geometry;
    return image(from, g.height.in, g.width.in, g.in_channels, s_.input_at);
  }
  const C* output_grad(const T* from) const {
    const ConvGeometry& g = s_.geometry;
    return image(from, g.height.out, g.width.out, g.out_channels, s_.output_at);
  }
  const C* filter(const T* from) const {
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.stage_filter) return from;
    }
    C* to = scratch(s_.filter_at);
    each_filter_row([&](int64_t staged, int64_t given, int64_t n) { copy_elements(from + given, n, to + staged); });
    return to;
  }

  // Calls compute(place for the result) and brings the result where it belongs.
  template <class Compute>
  void to_image(T* to, int64_t rows, int64_t columns, int64_t channels, size_t at, const Compute& compute) const {
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.stage_images) return compute(to);
    }
    C* staged = scratch(at);
    compute(staged);
    const ConvGeometry& g = s_.geometry;
    for (int64_t i = 0; i < g.groups; ++i) {
      image_from_nhwc(g.layout, g.batch, rows, columns, channels, channel_group(channels, i),
                      staged + g.batch * rows * columns * (channels / g.groups) * i, to, c_.pool());
    }
  }
  template <class Compute>
  void to_filter(T* to, const Compute& compute) const {
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.stage_filter) return compute(to);
    }
    C* from = scratch(s_.filter_at);
    compute(from);
    each_filter_row([&](int64_t staged, int64_t given, int64_t n) { copy_elements(from + staged, n, to + given); });
  }

  // Calls body with where the parts of a group begin: in the input, the filter and the output as they are computed.
  template <class Body>
  void for_groups(const Body& body) const {
    const ConvGeometry& g = s_.geometry;
    const int64_t in_c = g.in_channels / g.groups, out_c = g.out_channels / g.groups;
    const int64_t in = g.batch * g.height.in * g.width.in * in_c, out = g.batch * g.height.out * g.width.out * out_c;
    const int64_t filter = g.height.size * g.width.size * in_c * out_c;
    for (int64_t i = 0; i < g.groups; ++i) body(i * in, i * filter, i * out);
  }

 private:
  C* scratch(size_t at) const { return reinterpret_cast<C*>(static_cast<char*>(c_.scratch()) + at); }

  const C* image(const T* from, int64_t rows, int64_t columns, int64_t channels, size_t at) const {
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.stage_images) return from;
    }
    C* to = scratch(at);
    const ConvGeometry& g = s_.geometry;
    for (int64_t i = 0; i < g.groups; ++i) {
      image_to_nhwc(g.layout, g.batch, rows, columns, channels, channel_group(channels, i), from,
                    to + g.batch * rows * columns * (channels / g.groups) * i, c_.pool());
    }
    return to;
  }

  ChannelGroup channel_group(int64_t channels, int64_t i) const {
    const int64_t width = channels / s_.geometry.groups;
    return {i * width, width};
  }
  // Calls body(place among the staged filters, place in the filter, length) for what lies together in both.
  template <class Body>
  void each_filter_row(const Body& body) const {
    const ConvGeometry& g = s_.geometry;
    const int64_t n = g.out_channels / g.groups, rows = g.height.size * g.width.size * (g.in_channels / g.groups);
    for (int64_t i = 0; i < g.groups; ++i) {
      for (int64_t row = 0; row < rows; ++row) body((i * rows + row) * n, row * g.out_channels + i * n, n);
    }
  }

  KernelContext& c_;
  const ConvState& s_;
};

}  // namespace weir::ops
