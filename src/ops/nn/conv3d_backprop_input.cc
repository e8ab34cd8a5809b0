#include "base/errors.h"
#include "ops/nn/conv3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 1);
  const Shape sizes = c.value_as_shape(0);
  const VolumeGeometry g = conv3d_geometry(sizes, c.input(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", sizes.str(),
                           c.input(1).str(), g.output().str(), c.input(2).str());
  }
  Shape input = g.input();
  if (input[0] == kUnknown && c.input(2).has_rank()) input.set_dim(0, c.input(2)[0]);
  c.set_output(0, std::move(input));
}

void gradient(GradContext& c) {
  Output filter = c.input(1), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(1, conv3d_node(c, "Conv3DBackpropFilterV2", grad, shape(filter), dy));
  c.set_input_grad(2, conv3d_node(c, "Conv3D", grad, filter));
}

VolumeGeometry prepare(PrepareContext& c) { return conv3d_geometry(c.output(), c.input(1), c.node().attrs()); }

// The output position whose tap lies on an input position, or -1.
int64_t source(const Window& w, int64_t in, int64_t tap) {
  const int64_t start = in + w.pad_before - tap * w.dilation;
  return start >= 0 && start % w.stride == 0 && start / w.stride < w.out ? start / w.stride : -1;
}

// Calls visit(tap, offset of the output voxel) for the taps that reach an input voxel.
template <class Visit>
void for_each_source(const VolumeGeometry& g, const VolumeStrides& out, const int64_t (&in)[3], Visit&& visit) {
  const Window *d = &g.windows[0], *h = &g.windows[1], *w = &g.windows[2];
  for (int64_t a = 0; a < d->size; ++a) {
    const int64_t z = source(*d, in[0], a);
    for (int64_t b = 0; z >= 0 && b < h->size; ++b) {
      const int64_t y = source(*h, in[1], b);
      for (int64_t e = 0; y >= 0 && e < w->size; ++e) {
        const int64_t x = source(*w, in[2], e);
        if (x < 0) continue;
        visit((a * h->size + b) * w->size + e, z * out.space[0] + y * out.space[1] + x * out.space[2]);
      }
    }
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const VolumeStrides in = input_strides(g), out = output_strides(g);
    const int64_t sizes[3] = {g.windows[0].in, g.windows[1].in, g.windows[2].in};
    c.pool().parallel_for(g.batch * g.in_voxels(), 16, [&](int64_t begin, int64_t end) {
      Wide<T> sums[kVolumeChunk];
      for_each_voxel(sizes, begin, end, [&](int64_t n, const int64_t(&voxel)[3]) {
        const T* dy = c.input<T>(2) + n * out.batch;
        T* dx = c.output<T>() + n * in.batch + voxel[0] * in.space[0] + voxel[1] * in.space[1] + voxel[2] * in.space[2];
        for_each_channels(g.in_channels, [&](int64_t first, int64_t count) {
          std::fill_n(sums, count, Wide<T>(0));
          for_each_source(g, out, voxel, [&](int64_t tap, int64_t at) {
            const T* f = c.input<T>(1) + (tap * g.in_channels + first) * g.out_channels;
            for (int64_t q = 0; q < count; ++q, f += g.out_channels) {
              for (int64_t o = 0; o < g.out_channels; ++o)
                sums[q] += Wide<T>(dy[at + o * out.channels]) * Wide<T>(f[o]);
            }
          });
          for (int64_t q = 0; q < count; ++q) dx[(first + q) * in.channels] = static_cast<T>(sums[q]);
        });
      });
    });
  }
};

// The older form takes an input for its shape.
void infer_old(InferContext& c) {
  const VolumeGeometry g = conv3d_geometry(c.input(0), c.input(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           c.input(1).str(), g.output().str(), c.input(2).str());
  }
  c.set_output(0, g.input());
}

}  // namespace

OpDef conv3d_backprop_input_op() {
  return {.name = "Conv3DBackpropInput",
          .inputs = "input:T; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs = kOldConv3dAttrs,
          .flags = "deprecated@10",
          .infer = infer_old,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu>, .prepare = prepared<prepare>}};
}

OpDef conv3d_backprop_input_v2_op() {
  return {.name = "Conv3DBackpropInputV2",
          .inputs = "input_sizes:Tshape; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs =
              "T:type{half,bfloat16,float,double}; strides:list(int)>=5; padding:string{SAME,VALID}; "
              "data_format:string{NDHWC,NCDHW}='NDHWC'; dilations:list(int)=[1, 1, 1, 1, 1]; "
              "Tshape:type{int32,int64}=int32",
          .host = "input_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
