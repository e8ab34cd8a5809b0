#include "ops/array/array_util.h"
#include "ops/nn/pool3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, pool3d_geometry(c.input(0), c.attrs()).output()); }

void infer_grad(InferContext& c) {
  const VolumeGeometry g = pool3d_geometry(shape_argument(c, 0), c.attrs());
  (void)g.output().merged(c.input(1));
  c.set_output(0, g.input());
}

void gradient(GradContext& c) {
  c.set_input_grad(0, pool3d_node(c, "AvgPool3DGrad", shape(c.input(0)), c.output_grad()));
}
void gradient_of_grad(GradContext& c) { c.set_input_grad(1, pool3d_node(c, "AvgPool3D", c.output_grad())); }

VolumeGeometry prepare_grad(PrepareContext& c) { return pool3d_geometry(c.output(), c.node().attrs()); }

// Padding does not count.
template <class T, class TapsFn>
Wide<T> count_taps(const TapsFn& taps) {
  Wide<T> count = 0;
  taps([&](int64_t) { count += 1; });
  return count;
}

struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    if constexpr (std::is_same_v<T, float>) {
      if (g.channels_last) return cpu::avg_pool_3d(c.input<T>(0), c.output<T>(), pool3d_shape(g), c.pool());
    }
    const int64_t in = input_strides(g).channels, out = output_strides(g).channels;
    c.pool().parallel_for(g.batch * g.out_voxels(), 64, [&](int64_t begin, int64_t end) {
      for_each_volume_window(g, begin, end, [&](int64_t to, int64_t from, const auto& taps) {
        const Wide<T> all = count_taps<T>(taps);
        for_each_volume_chunk(g.in_channels, [&](int64_t first, int64_t count) {
          const T* x = c.input<T>(0) + from + first * in;
          T* y = c.output<T>() + to + first * out;
          Wide<T> sums[kVolumeChunk] = {};
          taps([&](int64_t offset) {
            for_each_channel(in, count, [&](int64_t q, int64_t i) { sums[q] += x[offset + i]; });
          });
          for (int64_t q = 0; q < count; ++q) y[q * out] = static_cast<T>(sums[q] / all);
        });
      });
    });
  }
};

struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    if constexpr (std::is_same_v<T, float>) {
      if (g.channels_last) return cpu::avg_pool_3d_grad(c.input<T>(1), c.output<T>(), pool3d_shape(g), c.pool());
    }
    const VolumeStrides in = input_strides(g), out = output_strides(g);
    for_each_volume_part(g, c.pool(), [&](int64_t n, int64_t first, int64_t count) {
      const T* dy = c.input<T>(1) + first * out.channels;
      T* dx = c.output<T>() + first * in.channels;
      clear_volume(g, n, count, dx);
      for_each_volume_window(
          g, n * g.out_voxels(), (n + 1) * g.out_voxels(), [&](int64_t to, int64_t from, const auto& taps) {
            const Wide<T> all = count_taps<T>(taps);
            Wide<T> shares[kVolumeChunk];
            for (int64_t q = 0; q < count; ++q) shares[q] = dy[to + q * out.channels] / all;
            taps([&](int64_t offset) {
              T* sums = dx + from + offset;
              for_each_channel(in.channels, count,
                               [&](int64_t q, int64_t i) { sums[i] = static_cast<T>(sums[i] + shares[q]); });
            });
          });
    });
  }
};

constexpr std::string_view kAttrs =
    "ksize:list(int)>=5; strides:list(int)>=5; padding:string{SAME,VALID}; data_format:string{NDHWC,NCDHW}='NDHWC'; "
    "T:type{half,bfloat16,float,double}";

}  // namespace

OpDef avg_pool3d_op() {
  return {.name = "AvgPool3D",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Forward>, .prepare = prepared<prepare_pool3d>}};
}

OpDef avg_pool3d_grad_op() {
  return {.name = "AvgPool3DGrad",
          .inputs = "orig_input_shape:int32; grad:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .host = "orig_input_shape",
          .infer = infer_grad,
          .gradient = gradient_of_grad,
          .cpu = {.select = kernel_for<FloatTypes, Grad>, .prepare = prepared<prepare_grad>}};
}

}  // namespace weir::ops
