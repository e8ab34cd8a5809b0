#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "tensor/elements.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.set_output(i, c.input(i));
}

void gradient(GradContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.set_input_grad(i, c.raw_output_grad(i));
}

void cpu(KernelContext& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    if (c.dtype(i) == DType::Resource) {
      c.forward_ref(i, i);
    } else if (c.dtype(i) == DType::Variant) {
      weir::copy_elements(c.dtype(i), c.raw_input(i), c.raw_output(i), c.elements(i));
    } else {
      copy_elements(c.dtype(i), c.raw_output(i), c.raw_input(i), c.elements(i), c.pool());
    }
  }
}

}  // namespace

OpDef identity_n_op() {
  return {.name = "IdentityN",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:list(type)>=1",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops

namespace weir {

std::vector<Output> identity_n(const InList& inputs, std::string_view name) {
  Operation op = NodeBuilder("IdentityN", name).input(inputs).build();
  std::vector<Output> outputs;
  for (int i = 0; i < op.outputs(); ++i) outputs.push_back(op.output(i));
  return outputs;
}

}  // namespace weir
