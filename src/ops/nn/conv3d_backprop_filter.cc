#include "base/errors.h"
#include "ops/nn/conv3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(1, 1);
  const VolumeGeometry g = conv3d_geometry(c.input(0), c.value_as_shape(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           g.filter().str(), g.output().str(), c.input(2).str());
  }
  c.set_output(0, g.filter());
}

void gradient(GradContext& c) {
  Output x = c.input(0), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(0, conv3d_node(c, "Conv3DBackpropInputV2", shape(x), grad, dy));
  c.set_input_grad(2, conv3d_node(c, "Conv3D", x, grad));
}

VolumeGeometry prepare(PrepareContext& c) { return conv3d_geometry(c.input(0), c.output(), c.node().attrs()); }

// Calls visit(offset in the input, offset in the output) for every place that a tap is used at.
template <class Visit>
void for_each_use(const VolumeGeometry& g, const VolumeStrides& in, const VolumeStrides& out, const int64_t (&tap)[3],
                  Visit&& visit) {
  auto input = [&](int i, int64_t at) {
    const Window& w = g.windows[i];
    const int64_t place = at * w.stride - w.pad_before + tap[i] * w.dilation;
    return place >= 0 && place < w.in ? place : -1;
  };
  for (int64_t z = 0; z < g.windows[0].out; ++z) {
    const int64_t d = input(0, z);
    for (int64_t y = 0; d >= 0 && y < g.windows[1].out; ++y) {
      const int64_t h = input(1, y);
      for (int64_t x = 0; h >= 0 && x < g.windows[2].out; ++x) {
        const int64_t w = input(2, x);
        if (w < 0) continue;
        visit(d * in.space[0] + h * in.space[1] + w * in.space[2],
              z * out.space[0] + y * out.space[1] + x * out.space[2]);
      }
    }
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const VolumeStrides in = input_strides(g), out = output_strides(g);
    const int64_t height = g.windows[1].size, width = g.windows[2].size;
    // Each row of the filter is summed up by one thread over the whole batch.
    c.pool().parallel_for(g.taps() * g.in_channels, 1, [&](int64_t begin, int64_t end) {
      Wide<T> sums[kVolumeChunk];
      for (int64_t row = begin; row < end; ++row) {
        const int64_t number = row / g.in_channels, channel = row % g.in_channels;
        const int64_t tap[3] = {number / width / height, number / width % height, number % width};
        for_each_channels(g.out_channels, [&](int64_t first, int64_t count) {
          std::fill_n(sums, count, Wide<T>(0));
          for (int64_t n = 0; n < g.batch; ++n) {
            const T* x = c.input<T>(0) + n * in.batch + channel * in.channels;
            const T* dy = c.input<T>(2) + n * out.batch + first * out.channels;
            for_each_use(g, in, out, tap, [&](int64_t from, int64_t to) {
              const Wide<T> value = x[from];
              for (int64_t q = 0; q < count; ++q) sums[q] += value * Wide<T>(dy[to + q * out.channels]);
            });
          }
          T* df = c.output<T>() + row * g.out_channels + first;
          for (int64_t q = 0; q < count; ++q) df[q] = static_cast<T>(sums[q]);
        });
      }
    });
  }
};

// The older form takes a filter for its shape.
void infer_old(InferContext& c) {
  const VolumeGeometry g = conv3d_geometry(c.input(0), c.input(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           g.filter().str(), g.output().str(), c.input(2).str());
  }
  c.set_output(0, g.filter());
}

}  // namespace

OpDef conv3d_backprop_filter_op() {
  return {.name = "Conv3DBackpropFilter",
          .inputs = "input:T; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs = kOldConv3dAttrs,
          .flags = "deprecated@10",
          .infer = infer_old,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu>, .prepare = prepared<prepare>}};
}

OpDef conv3d_backprop_filter_v2_op() {
  return {.name = "Conv3DBackpropFilterV2",
          .inputs = "input:T; filter_sizes:int32; out_backprop:T",
          .outputs = "output:T",
          .attrs = kConv3dAttrs,
          .host = "filter_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
