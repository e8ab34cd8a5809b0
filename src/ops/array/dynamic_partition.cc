#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/split_common.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// How many rows fall into each partition only the run knows.
void infer(InferContext& c) {
  const Shape &data = c.input(0), &partitions = c.input(1);
  if (!data.has_rank() || !partitions.has_rank()) return;
  Shape prefix, to{kUnknown};
  for (int i = 0; i < data.rank(); ++i) (i < partitions.rank() ? prefix : to).append(data[i]);
  if (partitions.rank() > data.rank() || !prefix.compatible(partitions)) {
    throw invalid_argument("the shape of data, {}, must begin with that of partitions, {}", data.str(),
                           partitions.str());
  }
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, to);
}

// The rows are put back where they came from.
void gradient(GradContext& c) {
  Output data = c.input(0), partitions = c.input(1), prefix = shape(partitions);
  Output places = reshape(range(0, reduce_prod(prefix)), prefix);
  std::vector<Output> origins = dynamic_partition(places, partitions, c.outputs());
  c.set_input_grad(0, reshape(dynamic_stitch(origins, all_output_grads(c)), shape(data)));
}

void cpu(KernelContext& c) {
  int64_t rows = c.elements(1), count = c.outputs();
  const int32_t* partitions = c.input<int32_t>(1);
  std::vector<int64_t> sizes(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < rows; ++i) {
    if (partitions[i] < 0 || partitions[i] >= count) {
      throw invalid_argument("partitions{} = {} is not in [0, {})", subscript_of(c.shape(1), i), partitions[i], count);
    }
    ++sizes[static_cast<size_t>(partitions[i])];
  }
  const Shape& from = c.shape(0);
  DType dtype = c.dtype(0);
  int skip = c.shape(1).rank();
  int64_t width = product(from, skip, from.rank());
  std::vector<Tensor> parts;
  for (int64_t size : sizes) {
    Shape to{size};
    for (int i = skip; i < from.rank(); ++i) to.append(from[i]);
    parts.emplace_back(dtype, to);
  }
  std::fill(sizes.begin(), sizes.end(), 0);
  for (int64_t i = 0; i < rows; ++i) {
    size_t p = static_cast<size_t>(partitions[i]);
    copy_elements(dtype, offset(dtype, parts[p].mutable_raw(), sizes[p]++ * width),
                  offset(dtype, c.raw_input(0), i * width), width, c.pool());
  }
  for (size_t p = 0; p < parts.size(); ++p) c.set_output(static_cast<int>(p), std::move(parts[p]));
}

}  // namespace

OpDef dynamic_partition_op() {
  return {.name = "DynamicPartition",
          .inputs = "data:T; partitions:int32",
          .outputs = "outputs:num_partitions*T",
          .attrs = "num_partitions:int>=1; T:type",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops

namespace weir {

std::vector<Output> dynamic_partition(const In& data, const In& partitions, int num_partitions, std::string_view name) {
  return ops::all_outputs(NodeBuilder("DynamicPartition", name)
                              .input(data)
                              .input(partitions)
                              .attr("num_partitions", static_cast<int64_t>(num_partitions))
                              .build());
}

}  // namespace weir
