#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, c.attr<Shape>("shape")); }

// A placeholder that is fed is never computed.
void cpu(KernelContext& c) {
  const NodeView& node = c.node();
  const Shape& shape = node.attr<Shape>("shape");
  throw invalid_argument("You must feed a value for placeholder tensor '{}' with dtype {}{}", node.name(),
                         dtype_name(node.type("dtype")), shape.has_rank() ? " and shape " + shape.str() : "");
}

}  // namespace

OpDef placeholder_op() {
  return {.name = "Placeholder",
          .outputs = "output:dtype",
          .attrs = "dtype:type; shape:shape=unknown",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>},
          .role = Role::Placeholder};
}

// The name of a few weeks.
OpDef placeholder_v2_op() {
  OpDef row = placeholder_op();
  row.name = "PlaceholderV2";
  row.attrs = "dtype:type; shape:shape";
  row.flags = "deprecated@23";
  return row;
}

}  // namespace weir::ops
