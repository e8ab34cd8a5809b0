#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/elementwise.h"
#include "ops/kernel.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Loops over elements with several results, reductions of rows and folds, which a pass of the plan found
// (passes/fuse_loops.cc); no program makes these nodes itself. `forms` has a LoopForm for each output.

// The shape of the loop: what full inputs broadcast to, and rows' single elements with ones behind them.
Shape loop_shape(const ElementwiseProgram& program, std::span<const Shape* const> inputs) {
  int rank = 0;
  for (int i = 0; i < program.inputs; ++i) {
    if (!program.is_row_input(i)) rank = std::max(rank, inputs[static_cast<size_t>(i)]->rank());
  }
  Shape shape;
  for (int i = 0; i < program.inputs; ++i) {
    Shape own = *inputs[static_cast<size_t>(i)];
    if (program.is_row_input(i) && own.rank() + program.row_dims == rank) {
      for (int d = 0; d < program.row_dims; ++d) own.append(1);
    }
    shape = Shape::broadcast(shape, own);
  }
  if (shape.rank() < program.row_dims) throw invalid_argument("a loop over {} has no such rows", shape.str());
  int64_t row = 1;
  for (int d = 1; d <= program.row_dims; ++d) row *= shape[-d];
  if (row == 0) throw error(Code::Unimplemented, "a loop over rows of no elements");
  for (int input : program.row_inputs) {
    if (inputs[static_cast<size_t>(input)]->elements() != shape.elements() / row) {
      throw invalid_argument("a loop over {} has other rows than {}", shape.str(),
                             inputs[static_cast<size_t>(input)]->str());
    }
  }
  return shape;
}

// Which dimensions an output lacks, and whether ones stand in their place.
Shape output_shape(const Shape& loop, int row_dims, LoopForm form) {
  Shape shape;
  for (int d = 0; d < loop.rank(); ++d) {
    const bool in_row = d >= loop.rank() - row_dims;
    const bool reduced = form.of == LoopForm::Of::Row       ? in_row
                         : form.of == LoopForm::Of::Columns ? !in_row
                                                            : form.of == LoopForm::Of::All;
    if (!reduced) shape.append(loop[d]);
    if (reduced && form.kept) shape.append(1);
  }
  return shape;
}

void infer(InferContext& c) {
  const auto program = ElementwiseProgram::decode(c.attr<std::string>("program"), c.inputs());
  const auto& forms = c.attr<std::vector<int64_t>>("forms");
  std::vector<const Shape*> inputs;
  for (int i = 0; i < c.inputs(); ++i) {
    if (!c.input(i).is_known()) return;
    inputs.push_back(&c.input(i));
  }
  if (forms.size() != program.outputs.size())
    throw invalid_argument("a loop has {} forms for {} outputs", forms.size(), program.outputs.size());
  const Shape shape = loop_shape(program, inputs);
  for (size_t o = 0; o < forms.size(); ++o) {
    c.set_output(static_cast<int>(o), output_shape(shape, program.row_dims, LoopForm::decode(forms[o])));
  }
}

ElementwiseKernel prepare(PrepareContext& c) {
  std::vector<const Shape*> shapes;
  for (int i = 0; i < c.inputs(); ++i) shapes.push_back(&c.input(i));
  const auto program = ElementwiseProgram::decode(c.attr<std::string>("program"), c.inputs());
  ElementwiseKernel kernel(program, shapes, loop_shape(program, shapes));
  c.set_scratch(kernel.scratch_bytes(c.threads()) + (shapes.size() + program.outputs.size()) * sizeof(float*));
  return kernel;
}

void cpu_kernel(KernelContext& c) {
  const auto& kernel = c.state<ElementwiseKernel>();
  const size_t inputs = static_cast<size_t>(c.inputs()), outputs = static_cast<size_t>(c.outputs());
  // The lists of inputs and outputs stand behind the kernel's own scratch memory.
  std::byte* lists = static_cast<std::byte*>(c.scratch()) + kernel.scratch_bytes(c.pool().threads());
  auto** from = reinterpret_cast<const float**>(lists);
  auto** to = reinterpret_cast<float**>(lists) + inputs;
  for (size_t i = 0; i < inputs; ++i) from[i] = c.input<float>(static_cast<int>(i));
  for (size_t o = 0; o < outputs; ++o) to[o] = c.output<float>(static_cast<int>(o));
  kernel.run({from, inputs}, {to, outputs}, c.scratch(), c.pool());
}

ComputeFn select(const NodeView& node) { return node.type() == float32 ? cpu_kernel : nullptr; }

OpDef loop_row(std::string_view name, uint32_t in_place) {
  return {.name = name,
          .inputs = "values:N*T",
          .outputs = "results:M*T",
          .attrs = "program:string; forms:list(int); N:int>=1; M:int>=1; T:type=float",
          .infer = infer,
          .cpu = {.select = select, .prepare = prepared<prepare>, .in_place = in_place}};
}

}  // namespace

// Output 0 has the loop's size, and may be written over an input of that size.
OpDef fused_loop_op() { return loop_row("_FusedLoop", ~0u); }
// All outputs are smaller.
OpDef fused_reduction_op() { return loop_row("_FusedReduction", 0); }

}  // namespace weir::ops
