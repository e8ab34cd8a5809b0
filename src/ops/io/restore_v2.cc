#include "base/errors.h"
#include "ops/io/checkpoint_inputs.h"
#include "ops/types.h"
#include "weir/checkpoint.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  require_names(c, 2, c.outputs());
  const Tensor slices = c.value(2);
  if (!slices.valid()) return;
  for (int i = 0; i < c.outputs(); ++i)
    c.set_output(i, slice_shape(slices.data<std::string>()[static_cast<size_t>(i)]));
}

std::vector<DType> prepare(PrepareContext& c) { return c.attr<std::vector<DType>>("dtypes"); }

void cpu(KernelContext& c) {
  const auto& dtypes = c.state<std::vector<DType>>();
  const auto names = strings(c, 1), slices = strings(c, 2);
  const train::CheckpointReader reader(c.scalar<std::string>(0));
  for (size_t i = 0; i < names.size(); ++i) {
    if (const train::CheckpointTensor* found = reader.find(names[i]); found && found->dtype != dtypes[i]) {
      throw invalid_argument("'{}' is wanted as {}; in the checkpoint '{}' it is {}", names[i], dtype_name(dtypes[i]),
                             c.scalar<std::string>(0), dtype_name(found->dtype));
    }
    c.set_output(static_cast<int>(i), reader.get_slice(names[i], slices[i]));
  }
}

}  // namespace

OpDef restore_v2_op() {
  return {.name = "RestoreV2",
          .inputs = "prefix:string; tensor_names:string; shape_and_slices:string",
          .outputs = "tensors:dtypes",
          .attrs = "dtypes:list(type)>=1",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
