#include "base/errors.h"
#include "io/tensor_bundle.h"
#include "ops/io/checkpoint_inputs.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

constexpr int kFirstTensor = 3;

void infer(InferContext& c) { require_names(c, 2, c.inputs() - kFirstTensor); }

void cpu(KernelContext& c) {
  const auto names = strings(c, 1), slices = strings(c, 2);
  io::BundleWriter writer(c.scalar<std::string>(0));
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor tensor = c.input_view(kFirstTensor + static_cast<int>(i));
    if (slices[i].empty()) {
      writer.add(names[i], tensor);
    } else {
      const auto [shape, slice] = io::parse_shape_and_slice(slices[i]);
      writer.add_slice(names[i], shape, slice, tensor);
    }
  }
  writer.finish();
}

}  // namespace

OpDef save_v2_op() {
  return {.name = "SaveV2",
          .inputs = "prefix:string; tensor_names:string; shape_and_slices:string; tensors:dtypes",
          .attrs = "dtypes:list(type)>=1",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
