#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "weir/index_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& wanted = c.attr<Shape>("shape");
  if (!wanted.compatible(c.input(0))) {
    throw invalid_argument("Shape of tensor input {} is not compatible with expected shape {}.", c.input(0).str(),
                           wanted.str());
  }
  c.set_output(0, wanted.merged(c.input(0)));
}

void gradient(GradContext& c) { c.set_input_grad(0, c.raw_output_grad()); }

}  // namespace

// The shape function runs again when everything is known: nothing is left to do.
OpDef ensure_shape_op() {
  return {.name = "EnsureShape",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "shape:shape; T:type",
          .infer = infer,
          .gradient = gradient,
          .alias = 0};
}

}  // namespace weir::ops

namespace weir {

Output ensure_shape(const In& x, const Shape& shape, std::string_view name) {
  return NodeBuilder("EnsureShape", name).input(x).attr("shape", shape).output();
}

}  // namespace weir
