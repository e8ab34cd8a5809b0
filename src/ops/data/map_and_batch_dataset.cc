#include "base/errors.h"
#include "ops/data/batch_dataset.h"
#include "ops/data/parallel_map_dataset.h"

namespace weir::ops {
namespace {

// The shapes of the rows of batches.
ElementSpec rows_of(ElementSpec spec) {
  for (Shape& shape : spec.shapes) {
    if (!shape.has_rank() || shape.rank() == 0) continue;
    const auto dims = shape.dims();
    shape = Shape(std::vector<int64_t>(dims.begin() + 1, dims.end()));
  }
  return spec;
}

void cpu(KernelContext& c) {
  const int captured = types_of_list(c, "Targuments"), at = 1 + captured;
  const auto size = c.scalar<int64_t>(at);
  if (size <= 0) throw invalid_argument("batch_size must be greater than zero.");
  ElementSpec spec = declared_spec(c);
  DatasetPtr mapped = parallel_mapped(dataset_input(c, 0), function_input(c, "f", 1, captured),
                                      parallel_calls(c.scalar<int64_t>(at + 1)), false, rows_of(spec));
  set_dataset(c, batched(std::move(mapped), size, c.scalar<bool>(at + 2), std::move(spec)));
}

}  // namespace

OpDef map_and_batch_dataset_op() {
  return {.name = "MapAndBatchDataset",
          .inputs =
              "input_dataset:variant; other_arguments:Targuments; batch_size:int64; num_parallel_calls:int64; "
              "drop_remainder:bool",
          .outputs = "handle:variant",
          .attrs =
              "f:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1; "
              "preserve_cardinality:bool=False",
          .host = "input_dataset, other_arguments, batch_size, num_parallel_calls, drop_remainder, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
