#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  // Scalars stand beside every element of the others, which all have one shape.
  Shape shape = Shape{};
  for (int i = 0; i < c.inputs(); ++i) {
    if (!c.input(i).has_rank()) return;
    if (c.input(i).is_scalar()) continue;
    shape = shape.is_scalar() ? c.input(i) : shape.merged(c.input(i));
  }
  c.set_output(0, shape);
}

std::string prepare(PrepareContext& c) { return c.attr<std::string>("separator"); }

void cpu(KernelContext& c) {
  const auto& separator = c.state<std::string>();
  for (int64_t i = 0; i < c.output_elements(); ++i) {
    std::string& joined = c.output<std::string>()[i];
    joined.clear();
    for (int part = 0; part < c.inputs(); ++part) {
      if (part > 0) joined += separator;
      joined += c.input<std::string>(part)[c.shape(part).is_scalar() ? 0 : i];
    }
  }
}

}  // namespace

OpDef string_join_op() {
  return {.name = "StringJoin",
          .inputs = "inputs:N*string",
          .outputs = "output:string",
          .attrs = "N:int>=1; separator:string=''",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
