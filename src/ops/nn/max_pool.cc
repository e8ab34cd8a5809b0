#include <algorithm>

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

void infer(InferContext& c) {
  c.set_output(0, pool_geometry(c.input(0), pool_windows(c.attrs()), PoolDepth::Allowed).output());
}

PoolGeometry prepare(PrepareContext& c) {
  return pool_geometry(c.input(0), pool_windows(c.node().attrs()), PoolDepth::Allowed);
}

void infer_v2(InferContext& c) {
  const auto windows = windows_of_inputs(c, 1);
  c.set_output(0, windows ? pool_geometry(c.input(0), *windows, PoolDepth::Allowed).output() : Shape::unknown_dims(4));
}

void gradient_v2(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("MaxPoolGradV2")
                          .input(c.input(0))
                          .input(c.output(0))
                          .input(c.output_grad())
                          .input(c.input(1))
                          .input(c.input(2))
                          .attr("padding", c.attr<std::string>("padding"))
                          .attr("data_format", c.attr<std::string>("data_format"))
                          .output());
}

template <class T>
void pool_channels(const T* x, T* y, int64_t n, int64_t window, ThreadPool& pool) {
  pool.parallel_for(n, std::max<int64_t>(1, 16384 / window), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = *std::max_element(x + i * window, x + (i + 1) * window);
  });
}

template <class T>
void pool(KernelContext& c, const PoolGeometry& g) {
  const T* x = c.input<T>(0);
  T* y = c.output<T>();
  if (g.depth_window > 1) {
    pool_channels(x, y, c.output_elements(), g.depth_window, c.pool());
    return;
  }
  if (is_fast_pool<T>(g)) {
    cpu::max_pool(c.input<float>(0), c.output<float>(), fast_pool(g), c.pool());
    return;
  }
  c.pool().parallel_for(g.batch * pool_windows(g), pool_grain(g), [&](int64_t begin, int64_t end) {
    for_each_window(g, begin, end, [&](int64_t out, const auto& taps) { y[out] = x[largest_under(x, taps)]; });
  });
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    pool<T>(c, c.state<PoolGeometry>());
  }
};

struct CpuV2 {
  template <class T>
  static void run(KernelContext& c) {
    pool<T>(c, pool_geometry(c.shape(0), windows_of_inputs(c, 1), PoolDepth::Allowed));
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
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Cpu>, .prepare = prepared<prepare>}};
}

OpDef max_pool_v2_op() {
  return {.name = "MaxPoolV2",
          .inputs = "input:T; ksize:int32; strides:int32",
          .outputs = "output:T",
          .attrs =
              "T:type{half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8}=float; "
              "padding:string{SAME,VALID}; data_format:string{NHWC,NCHW,NCHW_VECT_C}='NHWC'",
          .host = "ksize, strides",
          .infer = infer_v2,
          .gradient = gradient_v2,
          .cpu = {.select = kernel_for<RealTypes, CpuV2>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output max_pool(const In& input, const PoolOptions& options, std::string_view name) {
  NodeBuilder builder("MaxPool", name);
  builder.input(input);
  return ops::with_pool_attrs(builder, options).output();
}

}  // namespace weir::nn
