#include "ops/data/dataset.h"

// Advice for TensorFlow's own executor. Elements are the same with and without it, and so is the data set here.
namespace weir::ops {
namespace {

void cpu(KernelContext& c) { set_dataset(c, dataset_input(c, 0)); }

OpDef row(std::string_view name, std::string_view inputs, std::string_view attrs, std::string_view host,
          std::string_view flags = "") {
  return {.name = name,
          .inputs = inputs,
          .outputs = "handle:variant",
          .attrs = attrs,
          .flags = flags,
          .host = host,
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

OpDef wrapping_row(std::string_view name) {
  OpDef def = row(name, "input_handle:variant", "", "input_handle, output_handle");
  def.outputs = "output_handle:variant";
  return def;
}

}  // namespace

// Data sets as values that other operations must not look into: to Weir's they are closed anyway.
OpDef wrap_dataset_variant_op() { return wrapping_row("WrapDatasetVariant"); }
OpDef unwrap_dataset_variant_op() { return wrapping_row("UnwrapDatasetVariant"); }

OpDef model_dataset_op() {
  return row("ModelDataset", "input_dataset:variant",
             "algorithm:int=0; cpu_budget:int=0; output_types:list(type)>=1; output_shapes:list(shape)>=1",
             "input_dataset, handle");
}
OpDef max_intra_op_parallelism_dataset_op() {
  return row("MaxIntraOpParallelismDataset", "input_dataset:variant; max_intra_op_parallelism:int64", kSpecAttrs,
             "input_dataset, max_intra_op_parallelism, handle");
}
OpDef private_thread_pool_dataset_op() {
  return row("PrivateThreadPoolDataset", "input_dataset:variant; num_threads:int64", kSpecAttrs,
             "input_dataset, num_threads, handle");
}
OpDef non_serializable_dataset_op() {
  return row("NonSerializableDataset", "input_dataset:variant", kSpecAttrs, "input_dataset, handle");
}
OpDef assert_next_dataset_op() {
  return row("AssertNextDataset", "input_dataset:variant; transformations:string", kSpecAttrs,
             "input_dataset, transformations, handle");
}

}  // namespace weir::ops
