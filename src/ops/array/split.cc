#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/split_common.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  std::optional<int64_t> value = scalar_argument(c, 0);
  const Shape& from = c.input(1);
  c.require_min_rank(1, 1);
  if (!from.has_rank()) return;
  Shape to = Shape::unknown_dims(from.rank());
  if (value) {
    int axis = InferContext::normalise_axis(*value, from.rank());
    int64_t pieces = c.outputs();
    to = from;
    if (from[axis] != kUnknown) {
      if (from[axis] % pieces != 0) {
        throw invalid_argument(
            "Dimension size must be evenly divisible by {2} but is {3}. Number of ways to split should evenly divide the "
            "split dimension: dimension {0} of shape {1} into {2} pieces",
            axis, from.str(), pieces, from[axis]);
      }
      to.set_dim(axis, from[axis] / pieces);
    }
  }
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, to);
}

void gradient(GradContext& c) { c.set_input_grad(1, concat(all_output_grads(c), c.input(0))); }

void cpu(KernelContext& c) { compute_split(c, 1, c.scalar<int32_t>(0)); }

}  // namespace

OpDef split_op() {
  return {.name = "Split",
          .inputs = "split_dim:int32; value:T",
          .outputs = "output:num_split*T",
          .attrs = "num_split:int>=1; T:type",
          .host = "split_dim",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

std::vector<Output> split(const In& value, int num, const In& axis, std::string_view name) {
  Graph& graph = ops::graph_of({&value});
  LineScope line(graph, source_line(value.where()));
  // TensorFlow leaves this node behind; node counts decide seeds.
  graph.constant(Tensor(static_cast<int32_t>(num)));
  return ops::all_outputs(NodeBuilder("Split", ops::name_or(name, "split"))
                              .input(axis)
                              .input(value)
                              .attr("num_split", static_cast<int64_t>(num))
                              .build());
}

}  // namespace weir
