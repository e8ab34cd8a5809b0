#include "ops/nn/pool3d.h"
#include "ops/nn/pool_generic.h"
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

struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(g.batch * g.out_voxels(), 64, [&](int64_t begin, int64_t end) {
      for_each_volume_window(g, begin, end, [&](int64_t out, const auto& taps) { y[out] = x[largest_under(x, taps)]; });
    });
  }
};

struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const T *x = c.input<T>(0), *dy = c.input<T>(2);
    T* dx = c.output<T>();
    const int64_t image = g.in_voxels() * g.in_channels;
    // Windows overlap, so that a volume is the least that one thread can add up alone.
    c.pool().parallel_for(g.batch, 1, [&](int64_t begin, int64_t end) {
      std::fill(dx + begin * image, dx + end * image, T());
      for_each_volume_window(g, begin * g.out_voxels(), end * g.out_voxels(), [&](int64_t out, const auto& taps) {
        const int64_t i = largest_under(x, taps);
        dx[i] = static_cast<T>(wrapping_add<Wide<T>>(dx[i], dy[out]));
      });
    });
  }
};

struct GradGrad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const T *x = c.input<T>(0), *grad = c.input<T>(2);
    T* y = c.output<T>();
    c.pool().parallel_for(g.batch * g.out_voxels(), 64, [&](int64_t begin, int64_t end) {
      for_each_volume_window(g, begin, end,
                             [&](int64_t out, const auto& taps) { y[out] = grad[largest_under(x, taps)]; });
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
