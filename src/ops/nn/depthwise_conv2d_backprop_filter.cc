#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/nn/depthwise_state.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape sizes = shape_argument(c, 1);
  const DepthwiseGeometry d = depthwise_geometry(c.input(0), sizes, c.attrs());
  if (!d.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           sizes.str(), d.output().str(), c.input(2).str());
  }
  c.set_output(0, d.conv.filter());
}

DepthwiseState prepare(PrepareContext& c) {
  const DepthwiseGeometry d = depthwise_geometry(c.input(0), c.output(), c.node().attrs());
  return prepare_depthwise(c, d, d.is_fast() ? cpu::depthwise_filter_scratch(d.fast_shape()) : 0);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<DepthwiseState>();
    const DepthwiseGeometry& d = s.geometry;
    if constexpr (std::is_same_v<T, float>) {
      if (s.fast) {
        const DepthwiseImages images(c, s);
        const float *x = images.input(c.input<float>(0)), *dy = images.output_grad(c.input<float>(2));
        return cpu::depthwise_filter(d.fast_shape(), x, dy, c.output<float>(), c.scratch(), c.pool());
      }
    }
    const ConvGeometry& g = d.conv;
    const ImageStrides in = d.input_strides(), out = d.output_strides();
    const int64_t multiplier = g.out_channels, channels = d.channels();
    // A tap is one thread's. The sums run over whole batches and are made in double.
    c.pool().parallel_for(g.height.size * g.width.size, 1, [&](int64_t begin, int64_t end) {
      double sums[kDepthwiseChunk];
      for (int64_t tap = begin; tap < end; ++tap) {
        const int64_t kh = tap / g.width.size, kw = tap % g.width.size;
        for_each_chunk(channels, [&](int64_t first, int64_t count) {
          std::fill_n(sums, count, 0.0);
          for (int64_t row = 0; row < g.batch * g.height.out; ++row) {
            const int64_t n = row / g.height.out, oh = row % g.height.out;
            const int64_t ih = oh * g.height.stride - g.height.pad_before + kh * g.height.dilation;
            if (ih < 0 || ih >= g.height.in) continue;
            for (int64_t ow = 0; ow < g.width.out; ++ow) {
              const int64_t iw = ow * g.width.stride - g.width.pad_before + kw * g.width.dilation;
              if (iw < 0 || iw >= g.width.in) continue;
              const T* x = c.input<T>(0) + n * in.batch + ih * in.height + iw * in.width;
              const T* dy = c.input<T>(2) + n * out.batch + oh * out.height + ow * out.width;
              for (int64_t q = 0; q < count; ++q) {
                sums[q] += static_cast<double>(Wide<T>(x[(first + q) / multiplier * in.channels])) *
                           static_cast<double>(Wide<T>(dy[(first + q) * out.channels]));
              }
            }
          }
          T* df = c.output<T>() + tap * channels + first;
          for (int64_t q = 0; q < count; ++q) df[q] = static_cast<T>(static_cast<Wide<T>>(sums[q]));
        });
      }
    });
  }
};

void gradient(GradContext& c) {
  Output x = c.input(0), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(0, depthwise_node(c, "DepthwiseConv2dNativeBackpropInput", {shape(x), grad, dy}));
  c.set_input_grad(2, depthwise_node(c, "DepthwiseConv2dNative", {x, grad}));
}

}  // namespace

OpDef depthwise_conv2d_backprop_filter_op() {
  return {.name = "DepthwiseConv2dNativeBackpropFilter",
          .inputs = "input:T; filter_sizes:int32; out_backprop:T",
          .outputs = "output:T",
          .attrs = kDepthwiseAttrs,
          .host = "filter_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
