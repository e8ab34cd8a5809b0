#include <cstring>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, c.attr<Shape>("shape")); }

// Nobody should read it; who does anyway finds zeros, and nothing along dimensions that are not known.
void cpu(KernelContext& c) {
  const DType dtype = c.node().type("dtype");
  if (dtype == DType::Resource) throw error(Code::Unimplemented, "there is no resource to stand for one");
  Shape shape = c.node().attr<Shape>("shape");
  if (!shape.has_rank()) shape = Shape({0});
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == kUnknown) shape.set_dim(i, 0);
  }
  Tensor value(dtype, shape);
  if (dtype != DType::String && dtype != DType::Variant) {
    std::memset(value.mutable_raw(), 0, static_cast<size_t>(value.elements()) * dtype_size(dtype));
  }
  c.set_output(0, std::move(value));
}

}  // namespace

// Stands in a function for a result that a branch does not have.
OpDef fake_param_op() {
  return {.name = "FakeParam",
          .outputs = "output:dtype",
          .attrs = "dtype:type; shape:shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
