#include "graph/infer_context.h"
#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::avg_pool_grad(shape(c.input(0)), c.output_grad(), pool_options(c)));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<PoolGeometry>();
    if (is_fast_pool<T>(g)) {
      cpu::avg_pool(c.input<float>(0), c.output<float>(), fast_pool(g), c.pool());
      return;
    }
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(g.batch * pool_windows(g), pool_grain(g), [&](int64_t begin, int64_t end) {
      for_each_window(g, begin, end, [&](int64_t out, const auto& taps) {
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

}  // namespace

OpDef avg_pool_op() {
  return {.name = "AvgPool",
          .inputs = "value:T",
          .outputs = "output:T",
          .attrs =
              "ksize:list(int)>=4; strides:list(int)>=4; padding:string{SAME,VALID}; "
              "data_format:string{NHWC,NCHW}='NHWC'; T:type{half,bfloat16,float,double}",
          .infer = infer_pool,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare_pool>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output avg_pool(const In& value, const PoolOptions& options, std::string_view name) {
  NodeBuilder builder("AvgPool", name);
  builder.input(value);
  return ops::with_pool_attrs(builder, options).output();
}

}  // namespace weir::nn
