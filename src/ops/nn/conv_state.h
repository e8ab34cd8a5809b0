#pragma once

#include <cstddef>
#include <type_traits>

#include "devices/cpu/conv.h"
#include "ops/kernel.h"
#include "ops/math/functors.h"
#include "ops/nn/window.h"

namespace weir::ops {

// Convolutions are computed in float or double on NHWC images. Operands of other types or layouts are staged: copied
// into scratch memory in that form, and the result copied back.
template <class T>
using ConvCompute = std::conditional_t<std::is_same_v<T, double>, double, float>;

// What a convolution works out when its plan is made.
struct ConvState {
  ConvGeometry geometry;
  cpu::ConvParams params;
  bool stage_images = false;
  size_t input_at = 0, filter_at = 0, output_at = 0;  // of staged operands in the scratch memory
  cpu::Activation activation = cpu::Activation::None;
  bool bias = false;
};

enum class ConvKind { Forward, BackwardInput, BackwardFilter };
// Works out the state and asks for scratch memory. REQUIRES: attribute "T" is a floating type.
ConvState prepare_conv(PrepareContext& c, ConvKind kind, const Shape& input, const Shape& filter);

// Copies an image of the geometry's layout to NHWC and back. [rows, columns, channels] are its sizes.
template <class T, class C>
void image_to_nhwc(const ImageLayout& layout, int64_t batch, int64_t rows, int64_t columns, int64_t channels,
                   const T* from, C* to, ThreadPool& pool) {
  const ImageStrides s = image_strides(layout, rows, columns, channels);
  pool.parallel_for(batch * rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const T* row = from + at / rows * s.batch + at % rows * s.height;
      C* out = to + at * columns * channels;
      for (int64_t w = 0; w < columns; ++w) {
        for (int64_t k = 0; k < channels; ++k) *out++ = static_cast<C>(row[w * s.width + k * s.channels]);
      }
    }
  });
}
template <class T, class C>
void image_from_nhwc(const ImageLayout& layout, int64_t batch, int64_t rows, int64_t columns, int64_t channels,
                     const C* from, T* to, ThreadPool& pool) {
  const ImageStrides s = image_strides(layout, rows, columns, channels);
  pool.parallel_for(batch * rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const C* in = from + at * columns * channels;
      T* row = to + at / rows * s.batch + at % rows * s.height;
      for (int64_t w = 0; w < columns; ++w) {
        for (int64_t k = 0; k < channels; ++k) row[w * s.width + k * s.channels] = static_cast<T>(*in++);
      }
    }
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
      return from;
    } else {
      C* to = scratch(s_.filter_at);
      for (int64_t i = 0; i < s_.geometry.filter().elements(); ++i) to[i] = static_cast<C>(from[i]);
      return to;
    }
  }

  // Calls compute(place for the result) and brings the result where it belongs.
  template <class Compute>
  void to_image(T* to, int64_t rows, int64_t columns, int64_t channels, size_t at, const Compute& compute) const {
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.stage_images) return compute(to);
    }
    C* staged = scratch(at);
    compute(staged);
    image_from_nhwc(s_.geometry.layout, s_.geometry.batch, rows, columns, channels, staged, to, c_.pool());
  }
  template <class Compute>
  void to_filter(T* to, const Compute& compute) const {
    if constexpr (std::is_same_v<T, C>) {
      compute(to);
    } else {
      C* staged = scratch(s_.filter_at);
      compute(staged);
      for (int64_t i = 0; i < s_.geometry.filter().elements(); ++i) to[i] = static_cast<T>(staged[i]);
    }
  }

 private:
  C* scratch(size_t at) const { return reinterpret_cast<C*>(static_cast<char*>(c_.scratch()) + at); }

  const C* image(const T* from, int64_t rows, int64_t columns, int64_t channels, size_t at) const {
    if constexpr (std::is_same_v<T, C>) {
      if (!s_.stage_images) return from;
    }
    C* to = scratch(at);
    image_to_nhwc(s_.geometry.layout, s_.geometry.batch, rows, columns, channels, from, to, c_.pool());
    return to;
  }

  KernelContext& c_;
  const ConvState& s_;
};

}  // namespace weir::ops
