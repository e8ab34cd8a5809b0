#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/random/random_row.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Fill {
  template <class... Args>
  void operator()(Args&&... args) const {
    cpu::fill_uniform(std::forward<Args>(args)...);
  }
};

}  // namespace

OpDef random_uniform_op() { return random_row<Fill>("RandomUniform"); }

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
