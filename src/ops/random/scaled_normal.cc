#include "ops/random/scaled_normal.h"

#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {

Output scaled_normal(Graph& graph, std::string_view op, const In& shape, const RandomNormalOptions& options,
                     std::string_view name) {
  LineScope line(graph, source_line(shape.where()));
  Scope scope = graph.name_scope(name);
  Output sizes = to_output(graph, shape, "shape", int32);
  Output mean = to_output(graph, options.mean, "mean", options.dtype);
  Output stddev = to_output(graph, options.stddev, "stddev", options.dtype);
  Seeds seeds = graph.next_seeds(options.seed);  // the number of nodes so far may be part of it
  Output unit = NodeBuilder(op)
                    .input(sizes)
                    .attr("dtype", options.dtype)
                    .attr("seed", seeds.seed)
                    .attr("seed2", seeds.seed2)
                    .output();
  Output scaled = unit * stddev;
  return add(scaled, mean, scope.name());
}

}  // namespace weir::ops
