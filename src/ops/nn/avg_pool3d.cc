#include "ops/nn/pool3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, pool3d_geometry(c.input(0), c.attrs()).output()); }

void infer_grad(InferContext& c) {
  c.require_rank(0, 1);
  const VolumeGeometry g = pool3d_geometry(c.value_as_shape(0), c.attrs());
  (void)g.output().merged(c.input(1));
  c.set_output(0, g.input());
}

void gradient(GradContext& c) {
  c.set_input_grad(0, pool3d_node(c, "AvgPool3DGrad", shape(c.input(0)), c.output_grad()));
}
void gradient_of_grad(GradContext& c) { c.set_input_grad(1, pool3d_node(c, "AvgPool3D", c.output_grad())); }

VolumeGeometry prepare_grad(PrepareContext& c) { return pool3d_geometry(c.output(), c.node().attrs()); }

struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(g.batch * g.out_voxels(), 64, [&](int64_t begin, int64_t end) {
      for_each_volume_window(g, begin, end, [&](int64_t out, const auto& taps) {
        Wide<T> sum = 0, count = 0;  // padding does not count
        taps([&](int64_t i) {
          sum += x[i];
          count += 1;
        });
        y[out] = static_cast<T>(sum / count);
      });
    });
  }
};

struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<VolumeGeometry>();
    const T* dy = c.input<T>(1);
    T* dx = c.output<T>();
    const int64_t image = g.in_voxels() * g.in_channels;
    // Windows overlap, so that a volume is the least that one thread can add up alone.
    c.pool().parallel_for(g.batch, 1, [&](int64_t begin, int64_t end) {
      std::fill(dx + begin * image, dx + end * image, T());
      for_each_volume_window(g, begin * g.out_voxels(), end * g.out_voxels(), [&](int64_t out, const auto& taps) {
        Wide<T> count = 0;
        taps([&](int64_t) { count += 1; });
        const Wide<T> share = dy[out] / count;
        taps([&](int64_t i) { dx[i] = static_cast<T>(dx[i] + share); });
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
