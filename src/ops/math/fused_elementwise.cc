#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/elementwise.h"
#include "ops/kernel.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// A chain of elementwise operations that a pass of the plan found; no program makes this node itself.

void infer(InferContext& c) {
  Shape shape = c.input(0);
  for (int i = 1; i < c.inputs(); ++i) shape = Shape::broadcast(shape, c.input(i));
  c.set_output(0, std::move(shape));
}

ElementwiseKernel prepare(PrepareContext& c) {
  std::vector<const Shape*> shapes;
  for (int i = 0; i < c.inputs(); ++i) shapes.push_back(&c.input(i));
  auto program = ElementwiseProgram::decode(c.attr<std::string>("program"), c.inputs());
  if (program.outputs.size() != 1) throw Error(Code::InvalidArgument, "a fused elementwise step has one output");
  ElementwiseKernel kernel(program, shapes, c.output());
  c.set_scratch(kernel.scratch_bytes(c.threads()) + shapes.size() * sizeof(float*));
  return kernel;
}

void cpu_kernel(KernelContext& c) {
  const auto& kernel = c.state<ElementwiseKernel>();
  const size_t inputs = static_cast<size_t>(c.inputs());
  // The list of inputs stands behind the kernel's own scratch memory.
  auto* list =
      reinterpret_cast<const float**>(static_cast<std::byte*>(c.scratch()) + kernel.scratch_bytes(c.pool().threads()));
  for (size_t i = 0; i < inputs; ++i) list[i] = c.input<float>(static_cast<int>(i));
  float* output = c.output<float>();
  kernel.run({list, inputs}, {&output, 1}, c.scratch(), c.pool());
}

ComputeFn select(const NodeView& node) { return node.type() == float32 ? cpu_kernel : nullptr; }

}  // namespace

OpDef fused_elementwise_op() {
  return {.name = "_FusedElementwise",
          .inputs = "values:N*T",
          .outputs = "y:T",
          .attrs = "program:string; N:int>=1; T:type=float",
          .infer = infer,
          .cpu = {.select = select, .prepare = prepared<prepare>, .in_place = ~0u}};
}

}  // namespace weir::ops
