#include "base/errors.h"
#include "ops/io/checkpoint_inputs.h"
#include "ops/types.h"
#include "weir/checkpoint.h"

// One tensor of a checkpoint. `preferred_shard` was a hint about files; nothing depends on it.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.require_scalar(i);
  if (c.inputs() < 3) return;
  if (const Tensor slice = c.value(2); slice.valid()) c.set_output(0, slice_shape(slice.scalar<std::string>()));
}

DType prepare(PrepareContext& c) { return c.attr<DType>("dt"); }

void cpu(KernelContext& c) {
  const DType dtype = c.state<DType>();
  const train::CheckpointReader reader(c.scalar<std::string>(0));
  const auto& name = c.scalar<std::string>(1);
  if (const train::CheckpointTensor* found = reader.find(name); found && found->dtype != dtype) {
    throw invalid_argument("'{}' is wanted as {}; in the checkpoint '{}' it is {}", name, dtype_name(dtype),
                           c.scalar<std::string>(0), dtype_name(found->dtype));
  }
  c.set_output(0, reader.get_slice(name, c.inputs() < 3 ? std::string() : c.scalar<std::string>(2)));
}

constexpr Kernel kKernel = {.select = kernel_any<cpu>, .prepare = prepared<prepare>, .gives_outputs = true};

}  // namespace

OpDef restore_op() {
  return {.name = "Restore",
          .inputs = "file_pattern:string; tensor_name:string",
          .outputs = "tensor:dt",
          .attrs = "dt:type; preferred_shard:int=-1",
          .flags = "stateful",
          .infer = infer,
          .cpu = kKernel,
          .host_only = true};
}

OpDef restore_slice_op() {
  return {.name = "RestoreSlice",
          .inputs = "file_pattern:string; tensor_name:string; shape_and_slice:string",
          .outputs = "tensor:dt",
          .attrs = "dt:type; preferred_shard:int=-1",
          .flags = "stateful",
          .infer = infer,
          .cpu = kKernel,
          .host_only = true};
}

}  // namespace weir::ops
