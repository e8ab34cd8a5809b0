#include "ops/nn/depthwise_conv2d.h"

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, depthwise_geometry(c.input(0), c.input(1), c.attrs()).output()); }

DepthwiseGeometry prepare(PrepareContext& c) { return depthwise_geometry(c.input(0), c.input(1), c.node().attrs()); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& d = c.state<DepthwiseGeometry>();
    if constexpr (std::is_same_v<T, float>) {
      if (d.is_fast())
        return cpu::depthwise(d.fast_shape(), c.input<float>(0), c.input<float>(1), c.output<float>(), c.pool());
    }
    const ConvGeometry& g = d.conv;
    const ImageStrides in = d.input_strides(), out = d.output_strides();
    const int64_t channels = d.channels(), multiplier = g.out_channels;
    c.pool().parallel_for(g.batch * g.height.out, 1, [&](int64_t begin, int64_t end) {
      Wide<T> sums[kDepthwiseChunk];
      for (int64_t row = begin; row < end; ++row) {
        const int64_t n = row / g.height.out, oh = row % g.height.out;
        const Taps rows(g.height, oh);
        for (int64_t ow = 0; ow < g.width.out; ++ow) {
          const Taps columns(g.width, ow);
          for_each_chunk(channels, [&](int64_t first, int64_t count) {
            std::fill_n(sums, count, Wide<T>(0));
            for (int64_t kh = rows.first; kh < rows.last; ++kh) {
              const int64_t ih = oh * g.height.stride - g.height.pad_before + kh * g.height.dilation;
              for (int64_t kw = columns.first; kw < columns.last; ++kw) {
                const int64_t iw = ow * g.width.stride - g.width.pad_before + kw * g.width.dilation;
                const T* x = c.input<T>(0) + n * in.batch + ih * in.height + iw * in.width;
                const T* f = c.input<T>(1) + (kh * g.width.size + kw) * channels + first;
                if (multiplier == 1 && in.channels == 1) {
                  for (int64_t q = 0; q < count; ++q) sums[q] += Wide<T>(x[first + q]) * Wide<T>(f[q]);
                } else {
                  for (int64_t q = 0; q < count; ++q) {
                    sums[q] += Wide<T>(x[(first + q) / multiplier * in.channels]) * Wide<T>(f[q]);
                  }
                }
              }
            }
            T* y = c.output<T>() + n * out.batch + oh * out.height + ow * out.width;
            for (int64_t q = 0; q < count; ++q) y[(first + q) * out.channels] = static_cast<T>(sums[q]);
          });
        }
      }
    });
  }
};

void gradient(GradContext& c) {
  Output x = c.input(0), filter = c.input(1), dy = c.output_grad();
  c.set_input_grad(0, depthwise_node(c, "DepthwiseConv2dNativeBackpropInput", {shape(x), filter, dy}));
  c.set_input_grad(1, depthwise_node(c, "DepthwiseConv2dNativeBackpropFilter", {x, shape(filter), dy}));
}

}  // namespace

Output depthwise_node(const GradContext& c, std::string_view op, const std::vector<Output>& inputs) {
  NodeBuilder node(op);
  for (const Output& input : inputs) node.input(input);
  for (const char* name : {"strides", "padding", "data_format", "dilations"}) {
    node.attr(name, *c.op().attrs().find(name));
  }
  return node.output();
}

OpDef depthwise_conv2d_op() {
  return {.name = "DepthwiseConv2dNative",
          .inputs = "input:T; filter:T",
          .outputs = "output:T",
          .attrs = kDepthwiseAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
