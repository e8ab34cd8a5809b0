#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// The shape is what may be fed, which can be less than what the default has.
void infer(InferContext& c) {
  const Shape& shape = c.attr<Shape>("shape");
  (void)shape.merged(c.input(0));
  c.set_output(0, shape);
}

void gradient(GradContext& c) { c.set_input_grad(0, c.raw_output_grad()); }

struct State {
  bool allocated;  // the shape said everything
};
State prepare(PrepareContext& c) { return {c.output().is_known()}; }

void cpu(KernelContext& c) {
  if (c.state<State>().allocated) {
    copy_elements(c.dtype(0), c.raw_output(), c.raw_input(0), c.elements(0), c.pool());
  } else {
    c.set_output(0, c.input_tensor(0));
  }
}

}  // namespace

OpDef placeholder_with_default_op() {
  return {.name = "PlaceholderWithDefault",
          .inputs = "input:dtype",
          .outputs = "output:dtype",
          .attrs = "dtype:type; shape:shape",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu, AttrDtype>, .prepare = prepared<prepare>},
          .role = Role::Default};
}

}  // namespace weir::ops

namespace weir {

Output placeholder_with_default(const In& input, const Shape& shape, std::string_view name) {
  return NodeBuilder("PlaceholderWithDefault", name).input(input).attr("shape", shape).output();
}

}  // namespace weir
