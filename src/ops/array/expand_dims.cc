#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  // A vector of one element is taken too, as TensorFlow does.
  if (c.input(1).has_rank() && c.input(1).is_known() && c.input(1).elements() != 1) {
    throw invalid_argument("'dim' input must be a tensor with a single value; its shape is {}", c.input(1).str());
  }
  const Shape& from = c.input(0);
  std::optional<std::vector<int64_t>> value = c.value_as_ints(1);
  if (!from.has_rank()) return;
  if (!value) return c.set_output(0, Shape::unknown_dims(from.rank() + 1));
  int axis = InferContext::normalise_axis(value->at(0), from.rank() + 1);
  Shape to;
  for (int i = 0; i <= from.rank(); ++i) {
    if (i == axis) to.append(1);
    if (i < from.rank()) to.append(from[i]);
  }
  c.set_output(0, to);
}

void gradient(GradContext& c) { c.set_input_grad(0, reshape(c.output_grad(), shape(c.input(0)))); }

}  // namespace

OpDef expand_dims_op() {
  return {.name = "ExpandDims",
          .inputs = "input:T; dim:Tdim",
          .outputs = "output:T",
          .attrs = "T:type; Tdim:type{int32,int64}=int32",
          .host = "dim",
          .infer = infer,
          .gradient = gradient,
          .alias = 0};
}

}  // namespace weir::ops

namespace weir {

Output expand_dims(const In& input, const In& axis, std::string_view name) {
  return NodeBuilder("ExpandDims", name).input(input).input(axis).output();
}

}  // namespace weir
