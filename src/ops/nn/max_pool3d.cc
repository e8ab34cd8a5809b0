#include <algorithm>
#include <limits>

#include "ops/nn/pool3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, pool3d_geometry(c.input(0), c.attrs()).output()); }

void infer_grad(InferContext& c) {
  (void)pool3d_geometry(c.input(0), c.attrs()).output().merged(c.input(1)).merged(c.input(2));
  c.set_output(0, c.input(0));
}

void infer_grad_grad(InferContext& c) {
  c.set_output(0, pool3d_geometry(c.input(0).merged(c.input(2)), c.attrs()).output().merged(c.input(1)));
}

void gradient(GradContext& c) {
  c.set_input_grad(0, pool3d_node(c, "MaxPool3DGrad", c.input(0), c.output(0), c.output_grad()));
}

// Which element is the largest does not change with a small step, so only the gradient that came in has one itself.
void pass_on(GradContext& c, std::string_view op) {
  Output x = c.input(0), y = c.input(1);
  c.set_input_grad(0, zeros(c.graph(), shape(x), x.dtype()));
  c.set_input_grad(1, zeros(c.graph(), shape(y), y.dtype()));
  c.set_input_grad(2, pool3d_node(c, op, x, y, c.output_grad()));
}
void gradient_of_grad(GradContext& c) { pass_on(c, "MaxPool3DGradGrad"); }
void gradient_of_grad_grad(GradContext& c) { pass_on(c, "MaxPool3DGrad"); }

// For some channels, the offset of the first of the largest elements under a window. Offsets of 32 bits, where a volume
// allows them, have the width of most elements, so that the loop runs on vectors.
template <class T, class At, class TapsFn>
void find_largest(const T* x, int64_t stride, int64_t count, const TapsFn& taps, At (&at)[kVolumeChunk]) {
  T largest[kVolumeChunk];
  bool first = true;
  taps([&](int64_t offset) {
    const T* from = x + offset;
    const At where = static_cast<At>(offset);
    if (first) {
      for_each_channel(stride, count, [&](int64_t q, int64_t i) { largest[q] = from[i]; });
      std::fill_n(at, count, where);
      first = false;
      return;
    }
    for_each_channel(stride, count, [&](int64_t q, int64_t i) {
      const T value = from[i];
      const bool larger = value > largest[q];
      largest[q] = larger ? value : largest[q];
      at[q] = larger ? where : at[q];
    });
  });
}

// Calls body with a value of the type for offsets in a volume.
template <class Body>
void with_offset_type(const VolumeGeometry& g, const Body& body) {
  g.in_voxels() * g.in_channels <= std::numeric_limits<int32_t>::max() ? body(int32_t()) : body(int64_t());
}

struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    if constexpr (std::is_same_v<T, float>) {
      if (g.channels_last) return cpu::max_pool_3d(c.input<T>(0), c.output<T>(), pool3d_shape(g), c.pool());
    }
    const int64_t in = input_strides(g).channels, out = output_strides(g).channels;
    c.pool().parallel_for(g.batch * g.out_voxels(), 64, [&](int64_t begin, int64_t end) {
      for_each_volume_window(g, begin, end, [&](int64_t to, int64_t from, const auto& taps) {
        for_each_volume_chunk(g.in_channels, [&](int64_t first, int64_t count) {
          const T* x = c.input<T>(0) + from + first * in;
          T* y = c.output<T>() + to + first * out;
          T largest[kVolumeChunk];
          bool begun = false;
          taps([&](int64_t offset) {
            const T* tap = x + offset;
            if (!begun) {
              for_each_channel(in, count, [&](int64_t q, int64_t i) { largest[q] = tap[i]; });
            } else {
              for_each_channel(in, count, [&](int64_t q, int64_t i) {
                const T value = tap[i];
                largest[q] = value > largest[q] ? value : largest[q];
              });
            }
            begun = true;
          });
          for_each_channel(out, count, [&](int64_t q, int64_t i) { y[i] = largest[q]; });
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
      if (g.channels_last)
        return cpu::max_pool_3d_grad(c.input<T>(0), c.input<T>(2), c.output<T>(), pool3d_shape(g), c.pool());
    }
    const VolumeStrides in = input_strides(g), out = output_strides(g);
    for_each_volume_part(g, c.pool(), [&](int64_t n, int64_t first, int64_t count) {
      const T *x = c.input<T>(0) + first * in.channels, *dy = c.input<T>(2) + first * out.channels;
      T* dx = c.output<T>() + first * in.channels;
      clear_volume(g, n, count, dx);
      with_offset_type(g, [&]<class At>(At) {
        for_each_volume_window(g, n * g.out_voxels(), (n + 1) * g.out_voxels(),
                               [&](int64_t to, int64_t from, const auto& taps) {
                                 At at[kVolumeChunk];
                                 find_largest(x + from, in.channels, count, taps, at);
                                 for (int64_t q = 0; q < count; ++q) {
                                   const int64_t here = from + q * in.channels;
                                   const T largest = x[here + at[q]];
                                   taps([&](int64_t offset) {
                                     if (x[here + offset] != largest) return;
                                     T& sum = dx[here + offset];
                                     sum = static_cast<T>(wrapping_add<Wide<T>>(sum, dy[to + q * out.channels]));
                                   });
                                 }
                               });
      });
    });
  }
};

struct GradGrad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const int64_t in = input_strides(g).channels, out = output_strides(g).channels;
    c.pool().parallel_for(g.batch * g.out_voxels(), 64, [&](int64_t begin, int64_t end) {
      for_each_volume_window(g, begin, end, [&](int64_t to, int64_t from, const auto& taps) {
        for_each_volume_chunk(g.in_channels, [&](int64_t first, int64_t count) {
          int64_t at[kVolumeChunk];
          find_largest(c.input<T>(0) + from + first * in, in, count, taps, at);
          const T* grad = c.input<T>(2) + from + first * in;
          T* y = c.output<T>() + to + first * out;
          for (int64_t q = 0; q < count; ++q) y[q * out] = grad[at[q] + q * in];
        });
      });
    });
  }
};

using SmallFloats = Types<float, Half, BFloat16>;

// The types may differ by the signature alone; TensorFlow has no kernel for that either.
ComputeFn select_grad(const NodeView& node) {
  return node.type("T") == node.type("TInput") ? kernel_for<SmallFloats, Grad>(node) : nullptr;
}

}  // namespace

OpDef max_pool3d_op() {
  return {.name = "MaxPool3D",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=5; strides:list(int)>=5; padding:string{SAME,VALID}; "
              "data_format:string{NDHWC,NCDHW}='NDHWC'; T:type{half,bfloat16,float}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<SmallFloats, Forward>, .prepare = prepared<prepare_pool3d>}};
}

OpDef max_pool3d_grad_op() {
  return {.name = "MaxPool3DGrad",
          .inputs = "orig_input:TInput; orig_output:TInput; grad:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=5; strides:list(int)>=5; padding:string{SAME,VALID}; "
              "data_format:string{NDHWC,NCDHW}='NDHWC'; T:type{half,bfloat16,float}=float; "
              "TInput:type{half,bfloat16,float}=float",
          .infer = infer_grad,
          .gradient = gradient_of_grad,
          .cpu = {.select = select_grad, .prepare = prepared<prepare_pool3d>}};
}

OpDef max_pool3d_grad_grad_op() {
  return {.name = "MaxPool3DGradGrad",
          .inputs = "orig_input:T; orig_output:T; grad:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=5; strides:list(int)>=5; padding:string{SAME,VALID}; "
              "data_format:string{NDHWC,NCDHW}='NDHWC'; T:realnumbertype",
          .infer = infer_grad_grad,
          .gradient = gradient_of_grad_grad,
          .cpu = {.select = kernel_for<RealTypes, GradGrad>, .prepare = prepared<prepare_pool3d>}};
}

}  // namespace weir::ops
