#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/nn/depthwise_state.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape sizes = shape_argument(c, 0);
  const DepthwiseGeometry d = depthwise_geometry(sizes, c.input(1), c.attrs());
  if (!d.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", sizes.str(),
                           c.input(1).str(), d.output().str(), c.input(2).str());
  }
  c.set_output(0, d.conv.input());
}

DepthwiseState prepare(PrepareContext& c) {
  return prepare_depthwise(c, depthwise_geometry(c.output(), c.input(1), c.node().attrs()));
}

// The output positions that see input position `in` through tap k: at most one.
bool seen_from(const Window& w, int64_t in, int64_t k, int64_t& out) {
  const int64_t start = in + w.pad_before - k * w.dilation;
  out = start / w.stride;
  return start >= 0 && start % w.stride == 0 && out < w.out;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<DepthwiseState>();
    const DepthwiseGeometry& d = s.geometry;
    if constexpr (std::is_same_v<T, float>) {
      if (s.fast) {
        const DepthwiseImages images(c, s);
        const float* dy = images.output_grad(c.input<float>(2));
        return images.to_input_grad(c.output<float>(), [&](float* dx) {
          cpu::depthwise_input(d.fast_shape(), c.input<float>(1), dy, dx, c.pool());
        });
      }
    }
    const ConvGeometry& g = d.conv;
    const ImageStrides in = d.input_strides(), out = d.output_strides();
    const int64_t multiplier = g.out_channels, channels = d.channels();
    c.pool().parallel_for(g.batch * g.height.in, 1, [&](int64_t begin, int64_t end) {
      Wide<T> sums[kDepthwiseChunk];
      for (int64_t row = begin; row < end; ++row) {
        const int64_t n = row / g.height.in, ih = row % g.height.in;
        for (int64_t iw = 0; iw < g.width.in; ++iw) {
          for_each_chunk(g.in_channels, [&](int64_t first, int64_t count) {
            std::fill_n(sums, count, Wide<T>(0));
            for (int64_t kh = 0; kh < g.height.size; ++kh) {
              int64_t oh, ow;
              if (!seen_from(g.height, ih, kh, oh)) continue;
              for (int64_t kw = 0; kw < g.width.size; ++kw) {
                if (!seen_from(g.width, iw, kw, ow)) continue;
                const T* dy = c.input<T>(2) + n * out.batch + oh * out.height + ow * out.width;
                const T* f = c.input<T>(1) + (kh * g.width.size + kw) * channels;
                for (int64_t q = 0; q < count; ++q) {
                  for (int64_t o = (first + q) * multiplier; o < (first + q + 1) * multiplier; ++o) {
                    sums[q] += Wide<T>(dy[o * out.channels]) * Wide<T>(f[o]);
                  }
                }
              }
            }
            T* dx = c.output<T>() + n * in.batch + ih * in.height + iw * in.width;
            for (int64_t q = 0; q < count; ++q) dx[(first + q) * in.channels] = static_cast<T>(sums[q]);
          });
        }
      }
    });
  }
};

void gradient(GradContext& c) {
  Output filter = c.input(1), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(1, depthwise_node(c, "DepthwiseConv2dNativeBackpropFilter", {grad, shape(filter), dy}));
  c.set_input_grad(2, depthwise_node(c, "DepthwiseConv2dNative", {grad, filter}));
}

}  // namespace

OpDef depthwise_conv2d_backprop_input_op() {
  return {.name = "DepthwiseConv2dNativeBackpropInput",
          .inputs = "input_sizes:int32; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs = kDepthwiseAttrs,
          .host = "input_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
