#include "ops/nn/conv3d.h"

#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, conv3d_geometry(c.input(0), c.input(1), c.attrs()).output()); }

void gradient(GradContext& c) {
  Output x = c.input(0), filter = c.input(1), dy = c.output_grad();
  c.set_input_grad(0, conv3d_node(c, "Conv3DBackpropInputV2", shape(x), filter, dy));
  c.set_input_grad(1, conv3d_node(c, "Conv3DBackpropFilterV2", x, shape(filter), dy));
}

VolumeGeometry prepare(PrepareContext& c) { return conv3d_geometry(c.input(0), c.input(1), c.node().attrs()); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const VolumeStrides in = input_strides(g), out = output_strides(g);
    const int64_t sizes[3] = {g.windows[0].out, g.windows[1].out, g.windows[2].out};
    c.pool().parallel_for(g.batch * g.out_voxels(), 16, [&](int64_t begin, int64_t end) {
      Wide<T> sums[kVolumeChunk];
      for_each_voxel(sizes, begin, end, [&](int64_t n, const int64_t(&voxel)[3]) {
        const T* x = c.input<T>(0) + n * in.batch;
        T* y =
            c.output<T>() + n * out.batch + voxel[0] * out.space[0] + voxel[1] * out.space[1] + voxel[2] * out.space[2];
        for_each_channels(g.out_channels, [&](int64_t first, int64_t count) {
          std::fill_n(sums, count, Wide<T>(0));
          for_each_tap(g, in, voxel, [&](int64_t tap, int64_t at) {
            const T* f = c.input<T>(1) + tap * g.in_channels * g.out_channels + first;
            for (int64_t i = 0; i < g.in_channels; ++i, f += g.out_channels) {
              const Wide<T> value = x[at + i * in.channels];
              for (int64_t q = 0; q < count; ++q) sums[q] += value * Wide<T>(f[q]);
            }
          });
          for (int64_t q = 0; q < count; ++q) y[(first + q) * out.channels] = static_cast<T>(sums[q]);
        });
      });
    });
  }
};

}  // namespace

OpDef conv3d_op() {
  return {.name = "Conv3D",
          .inputs = "input:T; filter:T",
          .outputs = "output:T",
          .attrs = kConv3dAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
