#include "ops/array/array_util.h"
#include "ops/random/stateless_seed.h"
#include "weir/random_ops.h"

// Numbers that two seeds and a shape decide, and nothing else.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  require_seed(c, 1);
  c.set_output(0, shape_argument(c, 0));
}

void infer_int(InferContext& c) {
  infer(c);
  for (int input : {2, 3}) {
    if (c.input(input).has_rank() && c.input(input).rank() != 0) {
      throw invalid_argument("{} must be 0-D, got shape {}", input == 2 ? "minval" : "maxval", c.input(input).str());
    }
  }
}

struct Uniform {
  template <class T>
  static void run(KernelContext& c) {
    cpu::fill_uniform(stateless_stream(c, 1), c.output<T>(), c.output_elements(), c.pool());
  }
};
struct Normal {
  template <class T>
  static void run(KernelContext& c) {
    cpu::fill_normal(stateless_stream(c, 1), c.output<T>(), c.output_elements(), c.pool());
  }
};
struct TruncatedNormal {
  template <class T>
  static void run(KernelContext& c) {
    cpu::fill_truncated_normal(stateless_stream(c, 1), c.output<T>(), c.output_elements(), c.pool());
  }
};
struct UniformInt {
  template <class T>
  static void run(KernelContext& c) {
    const T low = c.scalar<T>(2), high = c.scalar<T>(3);
    if (c.output_elements() == 0) return;
    if (low >= high) throw invalid_argument("Need minval < maxval, got {} >= {}", low, high);
    cpu::fill_uniform_int(stateless_stream(c, 1), low, high, c.output<T>(), c.output_elements(), c.pool());
  }
};

template <class Fill>
OpDef row(std::string_view name) {
  return {
      .name = name,
      .inputs = "shape:T; seed:Tseed",
      .outputs = "output:dtype",
      .attrs = "dtype:type{half,bfloat16,float,double}=float; T:type{int32,int64}=int32; Tseed:type{int32,int64}=int64",
      .host = "shape, seed",
      .infer = infer,
      .gradient = not_differentiable,
      .cpu = {.select = kernel_for<FloatTypes, Fill, AttrDtype>}};
}

}  // namespace

OpDef stateless_random_uniform_op() { return row<Uniform>("StatelessRandomUniform"); }
OpDef stateless_random_normal_op() { return row<Normal>("StatelessRandomNormal"); }
OpDef stateless_truncated_normal_op() { return row<TruncatedNormal>("StatelessTruncatedNormal"); }
OpDef stateless_random_uniform_int_op() {
  return {.name = "StatelessRandomUniformInt",
          .inputs = "shape:T; seed:Tseed; minval:dtype; maxval:dtype",
          .outputs = "output:dtype",
          .attrs = "dtype:type{int32,int64}; T:type{int32,int64}; Tseed:type{int32,int64}=int64",
          .host = "shape, seed, minval, maxval",
          .infer = infer_int,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, UniformInt, AttrDtype>}};
}

}  // namespace weir::ops
