#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"

// Operations that give a tensor on as it is, in memory of its own or not.
namespace weir::ops {
namespace {

void copy_cpu(KernelContext& c) { copy_elements(c.dtype(0), c.raw_output(), c.raw_input(0), c.elements(0), c.pool()); }

void pass_gradient(GradContext& c) { c.set_input_grad(0, c.raw_output_grad()); }

void empty_cpu(KernelContext& c) {
  // Defined contents cost little, and nothing can be read that others left behind.
  const DType dtype = c.node().type("dtype");
  zero_elements(dtype, c.raw_output(), c.output_elements(), c.pool());
}

}  // namespace

OpDef deep_copy_op() {
  return {.name = "DeepCopy",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = "T:type",
          .flags = "stateful",
          .infer = infer::unchanged,
          .cpu = {.select = kernel_moving<copy_cpu>}};
}

OpDef snapshot_op() {
  return {.name = "Snapshot",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer::unchanged,
          .cpu = {.select = kernel_moving<copy_cpu>, .in_place = 0b1}};
}

// Promises that the input never changes.
OpDef guarantee_const_op() {
  return {.name = "GuaranteeConst",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .flags = "stateful",
          .infer = infer::unchanged,
          .gradient = pass_gradient,
          .cpu = {.select = kernel_moving<copy_cpu>, .in_place = 0b1}};
}

OpDef empty_op() {
  return {.name = "Empty",
          .inputs = "shape:int32",
          .outputs = "output:dtype",
          .attrs = "dtype:type; init:bool=False",
          .flags = "stateful",
          .host = "shape",
          .infer = [](InferContext& c) { c.set_output(0, shape_argument(c, 0)); },
          .cpu = {.select = kernel_moving<empty_cpu, AttrDtype>}};
}

}  // namespace weir::ops
