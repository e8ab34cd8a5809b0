#include "graph/infer_context.h"
#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape pooled = pool_geometry(c.input(0).merged(c.input(2)), c.attrs()).output();
  c.set_output(0, pooled.merged(c.input(1)));
}

void gradient(GradContext& c) {
  Output x = c.input(0), y = c.input(1);
  c.set_input_grad(0, zeros(c.graph(), shape(x), x.dtype()));
  c.set_input_grad(1, zeros(c.graph(), shape(y), y.dtype()));
  c.set_input_grad(2, nn::max_pool_grad(x, y, c.output_grad(), pool_options(c)));
}

PoolGeometry prepare(PrepareContext& c) { return pool_geometry(c.input(0), c.node().attrs()); }

void infer_v2(InferContext& c) {
  const auto windows = windows_of_inputs(c, 3);
  const Shape images = c.input(0).merged(c.input(2));
  const Shape pooled = windows ? pool_geometry(images, *windows).output() : Shape::unknown();
  c.set_output(0, pooled.merged(c.input(1)));
}

void gradient_v2(GradContext& c) { pass_on_to(c, "MaxPoolGradV2"); }

template <class T>
void collect(KernelContext& c, const PoolGeometry& g) {
  const T *x = c.input<T>(0), *grad = c.input<T>(2);
  T* y = c.output<T>();
  c.pool().parallel_for(g.batch * pool_windows(g), pool_grain(g), [&](int64_t begin, int64_t end) {
    for_each_window(g, begin, end, [&](int64_t out, const auto& taps) { y[out] = grad[largest_under(x, taps)]; });
  });
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    collect<T>(c, c.state<PoolGeometry>());
  }
};

struct CpuV2 {
  template <class T>
  static void run(KernelContext& c) {
    const PoolGeometry g = pool_geometry(c.shape(0), windows_of_inputs(c, 3));
    (void)g.output().merged(c.shape(1)).merged(c.output_shape());  // the windows are known only now
    collect<T>(c, g);
  }
};

}  // namespace

OpDef max_pool_grad_grad_op() {
  return {.name = "MaxPoolGradGrad",
          .inputs = "orig_input:T; orig_output:T; grad:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=4; strides:list(int)>=4; padding:string{SAME,VALID}; "
              "data_format:string{NHWC,NCHW}='NHWC'; T:realnumbertype",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Cpu>, .prepare = prepared<prepare>}};
}

OpDef max_pool_grad_grad_v2_op() {
  return {.name = "MaxPoolGradGradV2",
          .inputs = "orig_input:T; orig_output:T; grad:T; ksize:int32; strides:int32",
          .outputs = "output:T",
          .attrs = "padding:string{SAME,VALID}; data_format:string{NHWC,NCHW}='NHWC'; T:realnumbertype",
          .host = "ksize, strides",
          .infer = infer_v2,
          .gradient = gradient_v2,
          .cpu = {.select = kernel_for<RealTypes, CpuV2>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output max_pool_grad_grad(const In& input, const In& output, const In& grad, const PoolOptions& options,
                          std::string_view name) {
  NodeBuilder builder("MaxPoolGradGrad", name);
  builder.input(input).input(output).input(grad);
  return ops::with_pool_attrs(builder, options).output();
}

}  // namespace weir::nn
