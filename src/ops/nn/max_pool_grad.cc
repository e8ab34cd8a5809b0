#include "graph/infer_context.h"
#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape pooled = pool_geometry(c.input(0), c.attrs()).output();
  (void)pooled.merged(c.input(1)).merged(c.input(2));
  c.set_output(0, c.input(0));
}

void gradient(GradContext& c) {
  Output x = c.input(0), y = c.input(1);
  c.set_input_grad(0, zeros(c.graph(), shape(x), x.dtype()));
  c.set_input_grad(1, zeros(c.graph(), shape(y), y.dtype()));
  c.set_input_grad(2, nn::max_pool_grad_grad(x, y, c.output_grad(), pool_options(c)));
}

PoolGeometry prepare(PrepareContext& c) { return pool_geometry(c.input(0), c.node().attrs()); }

void infer_v2(InferContext& c) {
  if (const auto windows = windows_of_inputs(c, 3)) {
    (void)pool_geometry(c.input(0), *windows).output().merged(c.input(1)).merged(c.input(2));
  }
  c.set_output(0, c.input(0));
}

void gradient_v2(GradContext& c) { pass_on_to(c, "MaxPoolGradGradV2"); }

template <class T>
void spread(KernelContext& c, const PoolGeometry& g) {
  if (is_fast_pool<T>(g)) {
    cpu::max_pool_grad(c.input<float>(0), c.input<float>(1), c.input<float>(2), c.output<float>(), fast_pool(g),
                       c.pool());
    return;
  }
  const T *x = c.input<T>(0), *dy = c.input<T>(2);
  T* dx = c.output<T>();
  const int64_t image = g.height.in * g.width.in * g.channels;
  // Windows overlap, so that an image is the least that one thread can add up alone.
  c.pool().parallel_for(g.batch, 1, [&](int64_t begin, int64_t end) {
    std::fill(dx + begin * image, dx + end * image, T());
    for_each_window(g, begin * pool_windows(g), end * pool_windows(g), [&](int64_t out, const auto& taps) {
      const int64_t i = largest_under(x, taps);
      dx[i] = static_cast<T>(wrapping_add<Wide<T>>(dx[i], dy[out]));
    });
  });
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    spread<T>(c, c.state<PoolGeometry>());
  }
};

struct CpuV2 {
  template <class T>
  static void run(KernelContext& c) {
    const PoolGeometry g = pool_geometry(c.shape(0), windows_of_inputs(c, 3));
    (void)g.output().merged(c.shape(1)).merged(c.shape(2));  // the windows are known only now
    spread<T>(c, g);
  }
};

}  // namespace

OpDef max_pool_grad_op() {
  return {.name = "MaxPoolGrad",
          .inputs = "orig_input:T; orig_output:T; grad:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=4; strides:list(int)>=4; padding:string{SAME,VALID}; "
              "data_format:string{NHWC,NCHW}='NHWC'; "
              "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64}=float",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Cpu>, .prepare = prepared<prepare>}};
}

OpDef max_pool_grad_v2_op() {
  return {.name = "MaxPoolGradV2",
          .inputs = "orig_input:T; orig_output:T; grad:T; ksize:int32; strides:int32",
          .outputs = "output:T",
          .attrs =
              "padding:string{SAME,VALID}; data_format:string{NHWC,NCHW}='NHWC'; "
              "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64}=float",
          .host = "ksize, strides",
          .infer = infer_v2,
          .gradient = gradient_v2,
          .cpu = {.select = kernel_for<RealTypes, CpuV2>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output max_pool_grad(const In& input, const In& output, const In& grad, const PoolOptions& options,
                     std::string_view name) {
  NodeBuilder builder("MaxPoolGrad", name);
  builder.input(input).input(output).input(grad);
  return ops::with_pool_attrs(builder, options).output();
}

}  // namespace weir::nn
