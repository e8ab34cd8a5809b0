#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/random/generator.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, shape_argument(c, 0)); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    int64_t n = c.output_elements();
    cpu::fill_uniform(c.state<GeneratorRef>().generator->philox.reserve_outputs(n), c.output<T>(), n, c.pool());
  }
};

}  // namespace

OpDef random_uniform_op() {
  return {.name = "RandomUniform",
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

Output random_uniform(Graph& graph, const In& shape, const RandomUniformOptions& options, std::string_view name) {
  DType dtype = options.dtype;
  if (is_integer(dtype) && !options.maxval)
    throw invalid_argument("random_uniform of {} needs maxval", dtype_name(dtype));
  LineScope line(graph, source_line(shape.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "random_uniform"));
  Output sizes = ops::to_output(graph, shape, "shape", int32);
  Output low = ops::to_output(graph, options.minval, "min", dtype);
  Output high = ops::to_output(graph, options.maxval.value_or(In(1)), "max", dtype);
  Seeds seeds = graph.next_seeds(options.seed);
  if (is_integer(dtype)) {
    return NodeBuilder("RandomUniformInt", scope.name())
        .input(sizes)
        .input(low)
        .input(high)
        .attr("seed", seeds.seed)
        .attr("seed2", seeds.seed2)
        .output();
  }
  Output unit = NodeBuilder("RandomUniform")
                    .input(sizes)
                    .attr("dtype", dtype)
                    .attr("seed", seeds.seed)
                    .attr("seed2", seeds.seed2)
                    .output();
  Output scaled = unit * (high - low);
  return add(scaled, low, scope.name());
}

}  // namespace weir
