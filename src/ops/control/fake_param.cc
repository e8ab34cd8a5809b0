#include "graph/infer_context.h"
#include "graph/op_def.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, c.attr<Shape>("shape")); }

}  // namespace

// Stands in a function for a result that a branch does not have. It is read, never run.
OpDef fake_param_op() {
  return {.name = "FakeParam", .outputs = "output:dtype", .attrs = "dtype:type; shape:shape", .infer = infer};
}

}  // namespace weir::ops
