#pragma once

#include "ops/array/array_util.h"
#include "ops/random/generator.h"

namespace weir::ops {

// Fills the output by `fill(numbers of the generator, output, n, pool)`.
template <class Fill>
struct RandomKernel {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.output_elements();
    Fill()(c.state<GeneratorRef>().generator->philox.reserve_outputs(n), c.output<T>(), n, c.pool());
  }
};

// The row of an operation that makes a tensor of the given shape from random numbers.
template <class Fill>
OpDef random_row(std::string_view name) {
  return {
      .name = name,
      .inputs = "shape:T",
      .outputs = "output:dtype",
      .attrs = "seed:int=0; seed2:int=0; dtype:type{half,bfloat16,float,double}; T:type{int32,int64}",
      .flags = "stateful",
      .host = "shape",
      .infer = [](InferContext& c) { c.set_output(0, shape_argument(c, 0)); },
      .gradient = not_differentiable,
      .cpu = {.select = kernel_for<FloatTypes, RandomKernel<Fill>, AttrDtype>, .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops
