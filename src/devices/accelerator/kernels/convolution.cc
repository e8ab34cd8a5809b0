#include <algorithm>
#include <string>

#include "devices/accelerator/kernels/gemm_text.h"
#include "devices/accelerator/kernels/library.h"
#include "devices/accelerator/kernels/reduction.h"
#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "ops/nn/depthwise_conv2d.h"
#include "ops/nn/epilogue.h"
#include "ops/nn/window.h"

namespace weir::accelerator {
namespace {

// A convolution is a product of a matrix that is never made: its elements are looked up in the image. g has the sizes,
// w the window, xs and ys how far neighbours (batch, row, column, channel) lie apart in the image and in the result.
constexpr const char* kText = R"kernel(
#define IN_H g.v[0]
#define IN_W g.v[1]
#define IN_C g.v[2]
#define OUT_H g.v[3]
#define OUT_W g.v[4]
#define OUT_C g.v[5]
#define K_H g.v[6]
#define K_W g.v[7]
#define STRIDE_H w.v[0]
#define STRIDE_W w.v[1]
#define PAD_H w.v[2]
#define PAD_W w.v[3]
#define DILATION_H w.v[4]
#define DILATION_W w.v[5]
#define BATCH w.v[6]
#define AT(s, b, h, x, c) ((b) * s.v[0] + (h) * s.v[1] + (x) * s.v[2] + (c) * s.v[3])

FUNCTION int image_place(int pixel, int tap, int channel, INTS g, INTS w, INTS xs) {
  const int ow = pixel % OUT_W, rest = pixel / OUT_W, oh = rest % OUT_H, b = rest / OUT_H;
  const int h = oh * STRIDE_H - PAD_H + tap / K_W * DILATION_H, x = ow * STRIDE_W - PAD_W + tap % K_W * DILATION_W;
  return h >= 0 && h < IN_H && x >= 0 && x < IN_W ? AT(xs, b, h, x, channel) : -1;
}
FUNCTION int result_place(int pixel, int tap, int channel, INTS g, INTS w, INTS ys) {
  const int x = pixel % IN_W, rest = pixel / IN_W, h = rest % IN_H, b = rest / IN_H;
  const int oh = h + PAD_H - tap / K_W * DILATION_H, ow = x + PAD_W - tap % K_W * DILATION_W;
  if (oh < 0 || ow < 0 || oh % STRIDE_H != 0 || ow % STRIDE_W != 0) return -1;
  return oh / STRIDE_H < OUT_H && ow / STRIDE_W < OUT_W ? AT(ys, b, oh / STRIDE_H, ow / STRIDE_W, channel) : -1;
}

KERNEL(conv_forward, BUFFER(T, image), BUFFER(T, filter), BUFFER(T, bias), BUFFER(T, y), INTS g, INTS w, INTS xs, INTS ys,
       int has_bias, int activation) {
  OPEN(T, image); OPEN(T, filter); OPEN(T, bias); OPEN(T, y);
#define LOAD_A(value, m, k) { const int at_ = image_place(m, (k) / IN_C, (k) % IN_C, g, w, xs); if (at_ >= 0) value = image[at_]; }
#define LOAD_B(value, k, n) value = filter[(k) * OUT_C + (n)];
#define STORE(m, n, x) { T out_ = x; if (has_bias) out_ += bias[n]; \
    y[AT(ys, (m) / OUT_W / OUT_H, (m) / OUT_W % OUT_H, (m) % OUT_W, n)] = ACTIVATE(out_, activation); }
  GEMM(BATCH * OUT_H * OUT_W, OUT_C, 0, K_H * K_W * IN_C, GROUP, 1, 1)
#undef LOAD_A
#undef LOAD_B
#undef STORE
}

KERNEL(conv_input, BUFFER(T, dy), BUFFER(T, filter), BUFFER(T, dx), INTS g, INTS w, INTS xs, INTS ys) {
  OPEN(T, dy); OPEN(T, filter); OPEN(T, dx);
#define LOAD_A(value, m, k) { const int at_ = result_place(m, (k) / OUT_C, (k) % OUT_C, g, w, ys); if (at_ >= 0) value = dy[at_]; }
#define LOAD_B(value, k, n) value = filter[((k) / OUT_C * IN_C + (n)) * OUT_C + (k) % OUT_C];
#define STORE(m, n, x) dx[AT(xs, (m) / IN_W / IN_H, (m) / IN_W % IN_H, (m) % IN_W, n)] = x;
  GEMM(BATCH * IN_H * IN_W, IN_C, 0, K_H * K_W * OUT_C, GROUP, 1, 0)
#undef LOAD_A
#undef LOAD_B
#undef STORE
}

KERNEL(conv_filter, BUFFER(T, image), BUFFER(T, dy), BUFFER(T, parts), INTS g, INTS w, INTS xs, INTS ys, int tiles, int splits) {
  OPEN(T, image); OPEN(T, dy); OPEN(T, parts);
  const int pixels = BATCH * OUT_H * OUT_W, share = (pixels + splits - 1) / splits, part = GROUP / tiles;
  const int k_begin = part * share, k_end = min(pixels, k_begin + share);
  const int at = part * K_H * K_W * IN_C * OUT_C;
#define LOAD_A(value, m, k) { const int at_ = image_place(k, (m) / IN_C, (m) % IN_C, g, w, xs); if (at_ >= 0) value = image[at_]; }
#define LOAD_B(value, k, n) value = dy[AT(ys, (k) / OUT_W / OUT_H, (k) / OUT_W % OUT_H, (k) % OUT_W, n)];
#define STORE(m, n, x) parts[at + (m) * OUT_C + (n)] = x;
  GEMM(K_H * K_W * IN_C, OUT_C, k_begin, k_end, GROUP % tiles, 0, 1)
#undef LOAD_A
#undef LOAD_B
#undef STORE
}

KERNEL(depthwise_forward, BUFFER(T, image), BUFFER(T, filter), BUFFER(T, y), INTS g, INTS w, INTS xs, INTS ys, int n) {
  OPEN(T, image); OPEN(T, filter); OPEN(T, y);
  const int many = OUT_C / IN_C;
  FOR_EACH(i, n) {
    const int channel = i % OUT_C, pixel = i / OUT_C;
    T sum = 0;
    for (int tap = 0; tap < K_H * K_W; ++tap) {
      const int at = image_place(pixel, tap, channel / many, g, w, xs);
      if (at >= 0) sum += image[at] * filter[tap * OUT_C + channel];
    }
    y[AT(ys, pixel / OUT_W / OUT_H, pixel / OUT_W % OUT_H, pixel % OUT_W, channel)] = sum;
  }
}
KERNEL(depthwise_input, BUFFER(T, dy), BUFFER(T, filter), BUFFER(T, dx), INTS g, INTS w, INTS xs, INTS ys, int n) {
  OPEN(T, dy); OPEN(T, filter); OPEN(T, dx);
  const int many = OUT_C / IN_C;
  FOR_EACH(i, n) {
    const int channel = i % IN_C, pixel = i / IN_C;
    T sum = 0;
    for (int tap = 0; tap < K_H * K_W; ++tap) {
      for (int q = 0; q < many; ++q) {
        const int at = result_place(pixel, tap, channel * many + q, g, w, ys);
        if (at >= 0) sum += dy[at] * filter[tap * OUT_C + channel * many + q];
      }
    }
    dx[AT(xs, pixel / IN_W / IN_H, pixel / IN_W % IN_H, pixel % IN_W, channel)] = sum;
  }
}
KERNEL(depthwise_filter, BUFFER(T, image), BUFFER(T, dy), BUFFER(T, parts), INTS g, INTS w, INTS xs, INTS ys, int n, int splits) {
  OPEN(T, image); OPEN(T, dy); OPEN(T, parts);
  const int many = OUT_C / IN_C, entries = K_H * K_W * OUT_C, pixels = BATCH * OUT_H * OUT_W;
  FOR_EACH(i, n) {
    const int entry = i % entries, channel = entry % OUT_C, tap = entry / OUT_C;
    T sum = 0;
    for (int pixel = i / entries; pixel < pixels; pixel += splits) {
      const int at = image_place(pixel, tap, channel / many, g, w, xs);
      if (at >= 0) sum += image[at] * dy[AT(ys, pixel / OUT_W / OUT_H, pixel / OUT_W % OUT_H, pixel % OUT_W, channel)];
    }
    parts[i] = sum;
  }
}
)kernel";

const KernelDef kForward(kGemmText, kText, "conv_forward"), kInput(kGemmText, kText, "conv_input"),
    kFilter(kGemmText, kText, "conv_filter"), kDepthwise(kGemmText, kText, "depthwise_forward"),
    kDepthwiseInput(kGemmText, kText, "depthwise_input"), kDepthwiseFilter(kGemmText, kText, "depthwise_filter");

struct State {
  ops::ConvGeometry geometry;
  Ints g, w, xs, ys;
  int64_t batch, in_pixels, out_pixels, in_c, out_c, taps;
  bool bias = false;
  int32_t activation = 0;
};

Ints strides_of(const ops::ImageLayout& layout, int64_t height, int64_t width, int64_t channels) {
  const ops::ImageStrides s = ops::image_strides(layout, height, width, channels);
  Ints ints;
  ints.v[0] = small_int(s.batch);
  ints.v[1] = small_int(s.height);
  ints.v[2] = small_int(s.width);
  ints.v[3] = small_int(s.channels);
  return ints;
}

State state_of(const ops::ConvGeometry& geometry) {
  State s;
  s.geometry = geometry;
  const auto &h = geometry.height, &w = geometry.width;
  const int64_t g[] = {h.in, w.in, geometry.in_channels, h.out, w.out, geometry.out_channels, h.size, w.size};
  const int64_t v[] = {h.stride, w.stride, h.pad_before, w.pad_before, h.dilation, w.dilation, geometry.batch, 0};
  for (int i = 0; i < 8; ++i) {
    s.g.v[i] = small_int(g[i]);
    s.w.v[i] = small_int(v[i]);
  }
  s.xs = strides_of(geometry.layout, h.in, w.in, geometry.in_channels);
  s.ys = strides_of(geometry.layout, h.out, w.out, geometry.out_channels);
  s.batch = geometry.batch;
  s.in_pixels = geometry.batch * h.in * w.in;
  s.out_pixels = geometry.batch * h.out * w.out;
  s.in_c = geometry.in_channels;
  s.out_c = geometry.out_channels;
  s.taps = h.size * w.size;
  small_int(s.in_pixels * s.in_c);
  small_int(s.out_pixels * s.out_c);
  return s;
}

enum class Kind { Forward, Input, Filter };

template <Kind kKind>
State prepare(PrepareContext& c) {
  const Shape& input = kKind == Kind::Input ? c.output() : c.input(0);
  const Shape& filter = kKind == Kind::Forward ? c.input(1) : kKind == Kind::Input ? c.input(1) : c.output();
  const auto geometry = ops::conv_geometry(input, filter, c.node().attrs(), ops::ConvGroups::Allowed);
  if (geometry.groups != 1) throw error(Code::Unimplemented, "convolutions of groups of channels run on the CPU only");
  return state_of(geometry);
}

State prepare_fused(PrepareContext& c) {
  State s = prepare<Kind::Forward>(c);
  const ops::Epilogue epilogue = ops::parse_epilogue(c.node().attrs());
  s.bias = epilogue.bias;
  s.activation = epilogue.activation == cpu::Activation::Relu    ? 1
                 : epilogue.activation == cpu::Activation::Relu6 ? 2
                                                                 : 0;
  return s;
}

template <Kind kKind>
State prepare_depthwise(PrepareContext& c) {
  const Shape& input = kKind == Kind::Input ? c.output() : c.input(0);
  const Shape& filter = kKind == Kind::Filter ? c.output() : c.input(1);
  ops::ConvGeometry geometry = ops::depthwise_geometry(input, filter, c.node().attrs()).conv;
  geometry.out_channels *= geometry.in_channels;  // was the multiplier
  return state_of(geometry);
}

int64_t tiles_of(int64_t m, int64_t n) { return (m + 31) / 32 * ((n + 31) / 32); }

Launch& with_geometry(Launch& launch, const State& s) { return launch.value(s.g).value(s.w).value(s.xs).value(s.ys); }

using Way = Convolution::Way;

void forward(KernelContext& c) {
  const State& s = c.state<State>();
  if (convolve_by_library(Way::Forward, s.geometry, c.dtype(0), c.raw_input(0), c.raw_input(1), c.raw_output())) {
    finish_channels(c.dtype(0), c.raw_output(), s.out_pixels * s.out_c, s.ys.v[3], s.out_c,
                    s.bias ? c.raw_input(2) : nullptr, s.activation);
    return;
  }
  Launch launch(kForward.of(c.dtype(0)));
  launch.buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(s.bias ? c.raw_input(2) : c.raw_input(1))
      .buffer(c.raw_output());
  with_geometry(launch, s).value(int32_t{s.bias}).value(s.activation).groups(tiles_of(s.out_pixels, s.out_c));
}

void backward_input(KernelContext& c) {
  const State& s = c.state<State>();
  if (convolve_by_library(Way::Input, s.geometry, c.dtype(1), c.raw_input(2), c.raw_input(1), c.raw_output())) return;
  Launch launch(kInput.of(c.dtype(1)));
  launch.buffer(c.raw_input(2)).buffer(c.raw_input(1)).buffer(c.raw_output());
  with_geometry(launch, s).groups(tiles_of(s.in_pixels, s.in_c));
}

void backward_filter(KernelContext& c) {
  constexpr int64_t kGroups = 128, kLeast = 128;
  const State& s = c.state<State>();
  if (convolve_by_library(Way::Filter, s.geometry, c.dtype(0), c.raw_input(0), c.raw_input(2), c.raw_output())) return;
  const int64_t entries = s.taps * s.in_c * s.out_c, tiles = tiles_of(s.taps * s.in_c, s.out_c);
  const int64_t splits = std::clamp<int64_t>(kGroups / tiles, 1, std::max<int64_t>(1, s.out_pixels / kLeast));
  Tensor parts;
  if (splits > 1) parts = temporary(c.dtype(0), {splits * entries});
  Launch launch(kFilter.of(c.dtype(0)));
  launch.buffer(c.raw_input(0)).buffer(c.raw_input(2)).buffer(splits > 1 ? parts.mutable_raw() : c.raw_output());
  with_geometry(launch, s).count(tiles).count(splits).groups(tiles * splits);
  if (splits > 1) fold(kSumFold, c.dtype(0), parts.raw(), c.raw_output(), 1, splits, entries);
}

void depthwise_forward(KernelContext& c) {
  const State& s = c.state<State>();
  const int64_t n = s.out_pixels * s.out_c;
  Launch launch(kDepthwise.of(c.dtype(0)));
  launch.buffer(c.raw_input(0)).buffer(c.raw_input(1)).buffer(c.raw_output());
  with_geometry(launch, s).count(n).items(n);
}

void depthwise_input(KernelContext& c) {
  const State& s = c.state<State>();
  const int64_t n = s.in_pixels * s.in_c;
  Launch launch(kDepthwiseInput.of(c.dtype(1)));
  launch.buffer(c.raw_input(2)).buffer(c.raw_input(1)).buffer(c.raw_output());
  with_geometry(launch, s).count(n).items(n);
}

void depthwise_filter(KernelContext& c) {
  constexpr int64_t kItems = 8192;
  const State& s = c.state<State>();
  const int64_t entries = s.taps * s.out_c;
  const int64_t splits =
      std::clamp<int64_t>(kItems / std::max<int64_t>(1, entries), 1, std::max<int64_t>(1, s.out_pixels / 16));
  Tensor parts = temporary(c.dtype(0), {splits * entries});
  Launch launch(kDepthwiseFilter.of(c.dtype(0)));
  launch.buffer(c.raw_input(0)).buffer(c.raw_input(2)).buffer(parts.mutable_raw());
  with_geometry(launch, s).count(splits * entries).count(splits).items(splits * entries);
  fold(kSumFold, c.dtype(0), parts.raw(), c.raw_output(), 1, splits, entries);
}

bool has_simple_epilogue(const NodeView& node, std::span<const DType> inputs, std::span<const DType>) {
  return is_floating(inputs[0]) && ops::parse_epilogue(node.attrs()).is_simple();
}

bool second_is_float(const NodeView&, std::span<const DType> inputs, std::span<const DType>) {
  return is_floating(inputs[1]);
}

}  // namespace

std::span<const KernelRow> convolution_kernels() {
  static const KernelRow rows[] = {
      {"Conv2D", {.select = always<forward>, .prepare = prepared<prepare<Kind::Forward>>}, first_is_float},
      {"_FusedConv2D", {.select = always<forward>, .prepare = prepared<prepare_fused>}, has_simple_epilogue},
      {"Conv2DBackpropInput",
       {.select = always<backward_input>, .prepare = prepared<prepare<Kind::Input>>},
       second_is_float},
      {"Conv2DBackpropFilter",
       {.select = always<backward_filter>, .prepare = prepared<prepare<Kind::Filter>>},
       first_is_float},
      {"DepthwiseConv2dNative",
       {.select = always<depthwise_forward>, .prepare = prepared<prepare_depthwise<Kind::Forward>>},
       first_is_float},
      {"DepthwiseConv2dNativeBackpropInput",
       {.select = always<depthwise_input>, .prepare = prepared<prepare_depthwise<Kind::Input>>},
       second_is_float},
      {"DepthwiseConv2dNativeBackpropFilter",
       {.select = always<depthwise_filter>, .prepare = prepared<prepare_depthwise<Kind::Filter>>},
       first_is_float},
  };
  return rows;
}

}  // namespace weir::accelerator
