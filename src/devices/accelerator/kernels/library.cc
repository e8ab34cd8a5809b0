#include "devices/accelerator/kernels/library.h"

#include <string>

#include "devices/accelerator/kernels/gemm_text.h"
#include "ops/array/strided_copy.h"
#include "ops/element_mover.h"

namespace weir::accelerator {
namespace {

using Way = Convolution::Way;

constexpr const char* kText = R"kernel(
KERNEL(finish_channels, BUFFER(T, y), BUFFER(T, bias), int n, int inner, int channels, int has_bias, int activation) {
  OPEN(T, y); OPEN(T, bias);
  FOR_EACH(i, n) {
    T out = y[i];
    if (has_bias) out += bias[i / inner % channels];
    y[i] = ACTIVATE(out, activation);
  }
}
)kernel";
const KernelDef kFinishChannels(kGemmText, kText, "finish_channels");

// Whether every result looks at one pixel, so that the images are matrices.
bool is_pointwise(const ops::ConvGeometry& g) {
  auto plain = [](const ops::Window& w) {
    return w.size == 1 && w.stride == 1 && w.pad_before == 0 && w.pad_after == 0;
  };
  return plain(g.height) && plain(g.width) && g.layout.channels == 3;
}

bool multiply_pixels(Way way, const ops::ConvGeometry& g, DType type, const void* first, const void* second,
                     void* result) {
  const int64_t pixels = g.batch * g.height.out * g.width.out, in = g.in_channels, out = g.out_channels;
  Product p;
  p.type = type;
  switch (way) {
    case Way::Forward:
      p.m = pixels, p.n = out, p.k = in;
      break;
    case Way::Input:
      p.m = pixels, p.n = in, p.k = out, p.transpose_b = true;
      break;
    case Way::Filter:
      p.m = in, p.n = out, p.k = pixels, p.transpose_a = true;
      break;
  }
  return multiply_by_library(p, first, second, result);
}

bool is_even(const ops::Window& w) { return w.pad_before == w.pad_after; }

// With the image that libraries see: where the padding is not the same on both sides it is a part of that.
Convolution asked(Way way, const ops::ConvGeometry& g, DType type) {
  const bool padded = !is_even(g.height) || !is_even(g.width);
  auto side = [&](const ops::Window& w) { return small_int(padded ? w.in + w.pad_before + w.pad_after : w.in); };
  return {.way = way,
          .type = type,
          .batch = small_int(g.batch),
          .in_channels = small_int(g.in_channels),
          .in_height = side(g.height),
          .in_width = side(g.width),
          .out_channels = small_int(g.out_channels),
          .out_height = small_int(g.height.out),
          .out_width = small_int(g.width.out),
          .height = small_int(g.height.size),
          .width = small_int(g.width.size),
          .stride_height = small_int(g.height.stride),
          .stride_width = small_int(g.width.stride),
          .dilation_height = small_int(g.height.dilation),
          .dilation_width = small_int(g.width.dilation),
          .pad_height = padded ? 0 : small_int(g.height.pad_before),
          .pad_width = padded ? 0 : small_int(g.width.pad_before)};
}

ops::ElementMover& mover() { return *ops::ElementMover::current(); }

// An image as the operation has it and as libraries want it: [batch, channels, height, width], within the padding.
struct Image {
  int64_t batch, channels, height, width;  // without padding
  int64_t padded_height, padded_width;     // with it
  int64_t top, left;                       // of it
  ops::ImageStrides own;                   // the operation's

  bool is_same() const {
    return own.channels != 1 && padded_height == height && padded_width == width;  // channels are planes there too
  }
  int64_t elements() const { return batch * channels * padded_height * padded_width; }
  // Of the first pixel in the library's image.
  int64_t start() const { return top * padded_width + left; }
  ops::StridedBox box(bool to_library) const {
    const int64_t plane = padded_height * padded_width;
    ops::StridedBox b;
    auto add = [&](int64_t size, int64_t theirs, int64_t ours) {
      b.add(size, to_library ? theirs : ours, to_library ? ours : theirs);
    };
    add(batch, channels * plane, own.batch);
    add(channels, plane, own.channels);
    add(height, padded_width, own.height);
    add(width, 1, own.width);
    return b;
  }
};

Image input_image(const ops::ConvGeometry& g, const Convolution& c) {
  return {g.batch,
          g.in_channels,
          g.height.in,
          g.width.in,
          c.in_height,
          c.in_width,
          c.in_height > g.height.in ? g.height.pad_before : 0,
          c.in_width > g.width.in ? g.width.pad_before : 0,
          ops::image_strides(g.layout, g.height.in, g.width.in, g.in_channels)};
}

Image result_image(const ops::ConvGeometry& g) {
  return {g.batch,
          g.out_channels,
          g.height.out,
          g.width.out,
          g.height.out,
          g.width.out,
          0,
          0,
          ops::image_strides(g.layout, g.height.out, g.width.out, g.out_channels)};
}

// What libraries read: the operation's own bytes, or a copy in their order, which lives as long as this does.
class Given {
 public:
  Given(const Image& image, DType type, const void* own) : data_(own) {
    if (image.is_same()) return;
    copy_ = temporary(type, {image.elements()});
    if (image.padded_height != image.height || image.padded_width != image.width) {
      mover().zero(copy_.mutable_raw(), copy_.bytes());
    }
    mover().copy_box(type, image.box(true), ops::offset(type, copy_.mutable_raw(), image.start()), own);
    data_ = copy_.raw();
  }
  // A filter: [height, width, in, out] becomes [out, in, height, width].
  Given(const ops::ConvGeometry& g, DType type, const void* own) {
    copy_ = temporary(type, g.filter());
    ops::StridedBox box;
    const int64_t taps = g.height.size * g.width.size, in = g.in_channels, out = g.out_channels;
    box.add(out, in * taps, 1);
    box.add(in, taps, out);
    box.add(taps, 1, in * out);
    mover().copy_box(type, box, copy_.mutable_raw(), own);
    data_ = copy_.raw();
  }
  const void* data() const { return data_; }

 private:
  const void* data_;
  Tensor copy_;
};

bool convolve(const Convolution& call, size_t scratch_bytes, const void* first, const void* second, void* result) {
  Tensor scratch;
  if (scratch_bytes > 0) scratch = temporary(DType::Int8, {static_cast<int64_t>(scratch_bytes)});
  return current.engine->driver().convolve(call, first, second, result,
                                           scratch_bytes > 0 ? scratch.mutable_raw() : nullptr);
}

// The library writes an image, which is then brought into the operation's order.
bool convolve_to_image(const Convolution& call, size_t scratch, const Image& image, const void* first,
                       const void* second, void* result) {
  if (image.is_same()) return convolve(call, scratch, first, second, result);
  Tensor theirs = temporary(call.type, {image.elements()});
  if (!convolve(call, scratch, first, second, theirs.mutable_raw())) return false;
  mover().copy_box(call.type, image.box(false), result, ops::offset(call.type, theirs.raw(), image.start()));
  return true;
}

bool convolve_to_filter(const Convolution& call, size_t scratch, const ops::ConvGeometry& g, const void* first,
                        const void* second, void* result) {
  Tensor theirs = temporary(call.type, g.filter());
  if (!convolve(call, scratch, first, second, theirs.mutable_raw())) return false;
  const int64_t taps = g.height.size * g.width.size, in = g.in_channels, out = g.out_channels;
  ops::StridedBox box;
  box.add(taps, in * out, 1);
  box.add(in, out, taps);
  box.add(out, 1, in * taps);
  mover().copy_box(call.type, box, result, theirs.raw());
  return true;
}

}  // namespace

bool multiply_by_library(const Product& p, const void* a, const void* b, void* c) {
  if (p.batch <= 0 || p.m <= 0 || p.n <= 0 || p.k <= 0) return false;
  return current.engine->driver().multiply(p, a, b, c);
}

bool convolve_by_library(Way way, const ops::ConvGeometry& g, DType type, const void* first, const void* second,
                         void* result) {
  if (is_pointwise(g) && multiply_pixels(way, g, type, first, second, result)) return true;
  const Convolution call = asked(way, g, type);
  const std::optional<size_t> scratch = current.engine->driver().convolution_scratch(call);
  if (!scratch) return false;
  const Image in = input_image(g, call), out = result_image(g);
  switch (way) {
    case Way::Forward: {
      const Given image(in, type, first), filter(g, type, second);
      return convolve_to_image(call, *scratch, out, image.data(), filter.data(), result);
    }
    case Way::Input: {
      const Given grad(out, type, first), filter(g, type, second);
      return convolve_to_image(call, *scratch, in, grad.data(), filter.data(), result);
    }
    case Way::Filter: {
      const Given image(in, type, first), grad(out, type, second);
      return convolve_to_filter(call, *scratch, g, image.data(), grad.data(), result);
    }
  }
  return false;
}

void finish_channels(DType type, void* y, int64_t n, int64_t inner, int64_t channels, const void* bias,
                     int32_t activation) {
  if (!bias && activation == 0) return;
  Launch(kFinishChannels.of(type))
      .buffer(y)
      .buffer(bias ? bias : y)
      .count(n)
      .count(inner)
      .count(channels)
      .value(int32_t{bias != nullptr})
      .value(activation)
      .items(n);
}

}  // namespace weir::accelerator
