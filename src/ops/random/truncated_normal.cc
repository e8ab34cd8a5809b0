#include "ops/array/array_util.h"
#include "ops/random/generator.h"
#include "ops/random/scaled_normal.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, shape_argument(c, 0)); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    int64_t n = c.output_elements();
    cpu::fill_truncated_normal(c.state<GeneratorRef>().generator->philox.reserve_outputs(n), c.output<T>(), n,
                               c.pool());
  }
};

}  // namespace

OpDef truncated_normal_op() {
  return {.name = "TruncatedNormal",
          .inputs = "shape:T",
          .outputs = "output:dtype",
          .attrs = "seed:int=0; seed2:int=0; dtype:type{half,bfloat16,float,double}; T:type{int32,int64}",
          .flags = "stateful",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<FloatTypes, Cpu, AttrDtype>, .prepare = prepared<prepare_generator>}};
}

}  // namespace weir::ops

namespace weir {

Output truncated_normal(Graph& graph, const In& shape, const RandomNormalOptions& options, std::string_view name) {
  return ops::scaled_normal(graph, "TruncatedNormal", shape, options, ops::name_or(name, "truncated_normal"));
}

}  // namespace weir
