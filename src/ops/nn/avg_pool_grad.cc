#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const PoolGeometry g = pool_geometry(shape_argument(c, 0), c.attrs());
  (void)g.output().merged(c.input(1));
  c.set_output(0, g.input());
}

void gradient(GradContext& c) { c.set_input_grad(1, nn::avg_pool(c.output_grad(), pool_options(c))); }

PoolGeometry prepare(PrepareContext& c) { return pool_geometry(c.output(), c.node().attrs()); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<PoolGeometry>();
    if (is_fast_pool<T>(g)) {
      cpu::avg_pool_grad(c.input<float>(1), c.output<float>(), fast_pool(g), c.pool());
      return;
    }
    const T* dy = c.input<T>(1);
    T* dx = c.output<T>();
    const int64_t image = g.height.in * g.width.in * g.channels;
    // Windows overlap, so that an image is the least that one thread can add up alone.
    c.pool().parallel_for(g.batch, 1, [&](int64_t begin, int64_t end) {
      std::fill(dx + begin * image, dx + end * image, T());
      for_each_window(g, begin * pool_windows(g), end * pool_windows(g), [&](int64_t out, const auto& taps) {
        Wide<T> count = 0;
        taps([&](int64_t) { count += 1; });
        const Wide<T> share = dy[out] / count;
        taps([&](int64_t i) { dx[i] = static_cast<T>(dx[i] + share); });
      });
    });
  }
};

}  // namespace

OpDef avg_pool_grad_op() {
  return {.name = "AvgPoolGrad",
          .inputs = "orig_input_shape:int32; grad:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=4; strides:list(int)>=4; padding:string{SAME,VALID}; "
              "data_format:string{NHWC,NCHW}='NHWC'; T:type{half,bfloat16,float,double}",
          .host = "orig_input_shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output avg_pool_grad(const In& input_shape, const In& grad, const PoolOptions& options, std::string_view name) {
  NodeBuilder builder("AvgPoolGrad", name);
  builder.input(input_shape).input(grad);
  return ops::with_pool_attrs(builder, options).output();
}

}  // namespace weir::nn
