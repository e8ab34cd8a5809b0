#include "ops/array/reshape.h"

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "weir/ops.h"

namespace weir::ops {

void infer_reshape(InferContext& c) {
  const Shape& from = c.input(0);
  if (c.input(1).has_rank() && c.input(1).rank() != 1) {
    throw invalid_argument("Shape must be rank 1 but is rank {}: sizes input must be 1-D, not shape {}",
                           c.input(1).rank(), c.input(1).str());
  }
  Shape to;
  if (std::optional<std::vector<int64_t>> sizes = c.value_as_ints(1)) {
    int open = 0;
    for (int64_t size : *sizes) {
      if (size < -1) throw invalid_argument("size {} is negative", size);
      open += size == -1;
    }
    to = Shape(*sizes);
    if (open > 1) throw invalid_argument("only one size may be -1; the shape is {}", to.str());
  } else {
    to = c.value_as_shape(1);
  }
  // A size that is not known yet and one that is given as -1 look the same here, and mean the same: whatever is left.
  if (!to.has_rank() || !from.is_known()) return c.set_output(0, to);

  int64_t elements = from.elements(), known = 1;
  int open = 0, last_open = -1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == kUnknown) {
      ++open;
      last_open = i;
    } else {
      known = checked_multiply(known, to[i]);
    }
  }
  if (open == 1) {
    if (known == 0 ? elements != 0 : elements % known != 0) {
      throw invalid_argument("Dimension size must be evenly divisible by {} but is {}: shape {} does not fill {}",
                             known, elements, from.str(), to.str());
    }
    to.set_dim(last_open, known == 0 ? 0 : elements / known);
  } else if (open == 0 && known != elements) {
    throw invalid_argument(
        "Cannot reshape a tensor with {} elements to shape {} ({} elements); its shape is {}. Input to reshape is a tensor "
        "with {} values, but the requested shape has {}",
        elements, to.str(), known, from.str(), elements, known);
  }
  c.set_output(0, to);
}

namespace {

void gradient(GradContext& c) { c.set_input_grad(0, reshape(c.output_grad(), shape(c.input(0)))); }

}  // namespace

OpDef reshape_op() {
  return {.name = "Reshape",
          .inputs = "tensor:T; shape:Tshape",
          .outputs = "output:T",
          .attrs = "T:type; Tshape:type{int32,int64}=int32",
          .host = "shape",
          .infer = infer_reshape,
          .gradient = gradient,
          .alias = 0};
}

}  // namespace weir::ops

namespace weir {

Output reshape(const In& tensor, const In& shape, std::string_view name) {
  return NodeBuilder("Reshape", name).input(tensor).input(shape).output();
}

}  // namespace weir
