#include "graph/infer_context.h"
#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void gradient(GradContext& c) {
  c.set_input_grad(0, nn::max_pool_grad(c.input(0), c.output(0), c.output_grad(), pool_options(c)));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& g = c.state<PoolGeometry>();
    if (is_fast_pool<T>(g)) {
      cpu::max_pool(c.input<float>(0), c.output<float>(), fast_pool(g), c.pool());
      return;
    }
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    c.pool().parallel_for(g.batch * pool_windows(g), pool_grain(g), [&](int64_t begin, int64_t end) {
      for_each_window(g, begin, end, [&](int64_t out, const auto& taps) { y[out] = x[largest_under(x, taps)]; });
    });
  }
};

}  // namespace

OpDef max_pool_op() {
  return {.name = "MaxPool",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs =
              "T:type{half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8}=float; "
              "ksize:list(int)>=4; strides:list(int)>=4; padding:string{SAME,VALID}; "
              "data_format:string{NHWC,NCHW,NCHW_VECT_C}='NHWC'",
          .infer = infer_pool,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Cpu>, .prepare = prepared<prepare_pool>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output max_pool(const In& input, const PoolOptions& options, std::string_view name) {
  NodeBuilder builder("MaxPool", name);
  builder.input(input);
  return ops::with_pool_attrs(builder, options).output();
}

}  // namespace weir::nn
