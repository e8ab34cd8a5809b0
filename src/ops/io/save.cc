#include "base/errors.h"
#include "io/checkpoint_v1.h"
#include "ops/io/checkpoint_inputs.h"
#include "ops/types.h"

// TensorFlow's old (V1) checkpoints, written.
namespace weir::ops {
namespace {

void infer(InferContext& c) { require_names(c, 1, c.inputs() - 2); }
void infer_slices(InferContext& c) { require_names(c, 2, c.inputs() - 3); }

// `slices` is empty when every tensor is whole.
void save(KernelContext& c, std::span<const std::string> slices, int first_tensor) {
  const auto names = strings(c, 1);
  const auto& path = c.scalar<std::string>(0);
  io::create_directories(io::parent_directory(path));
  io::V1Writer writer(path);
  for (size_t i = 0; i < names.size(); ++i) {
    const Tensor tensor = c.input_view(first_tensor + static_cast<int>(i));
    if (slices.empty() || slices[i].empty()) {
      writer.add_slice(names[i], tensor.shape(), io::TensorSlice::whole(tensor.shape().rank()), tensor);
    } else {
      const auto [shape, slice] = io::parse_shape_and_slice(slices[i]);
      writer.add_slice(names[i], shape, slice, tensor);
    }
  }
  writer.finish();
}

void cpu(KernelContext& c) { save(c, {}, 2); }
void cpu_slices(KernelContext& c) { save(c, strings(c, 2), 3); }

}  // namespace

OpDef save_op() {
  return {.name = "Save",
          .inputs = "filename:string; tensor_names:string; data:T",
          .attrs = "T:list(type)>=1",
          .flags = "stateful",
          .infer = infer,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

OpDef save_slices_op() {
  return {.name = "SaveSlices",
          .inputs = "filename:string; tensor_names:string; shapes_and_slices:string; data:T",
          .attrs = "T:list(type)>=1",
          .flags = "stateful",
          .infer = infer_slices,
          .cpu = {.select = kernel_any<cpu_slices>},
          .host_only = true};
}

}  // namespace weir::ops
