#include "weir/partitioners.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"

namespace weir {
namespace {

int64_t element_bytes(DType dtype, int64_t bytes_per_string_element) {
  return dtype == DType::String ? bytes_per_string_element : static_cast<int64_t>(dtype_size(dtype));
}

size_t checked_axis(const Shape& shape, int axis) {
  if (!shape.is_known()) throw invalid_argument("shape is not fully defined: {}", shape.str());
  if (axis < 0 || axis >= shape.rank()) {
    throw invalid_argument("Can not partition variable along axis {} when shape is only {}", axis, shape.str());
  }
  return static_cast<size_t>(axis);
}

std::vector<int64_t> cut(const Shape& shape, size_t axis, int64_t parts) {
  std::vector<int64_t> partitions(static_cast<size_t>(shape.rank()), 1);
  partitions[axis] = parts;
  return partitions;
}

}  // namespace

Partitioner fixed_size_partitioner(int64_t shards, int axis) {
  return [=](const Shape& shape, DType) {
    const size_t along = checked_axis(shape, axis);
    return cut(shape, along, std::min(shards, shape[axis]));
  };
}

Partitioner variable_axis_size_partitioner(int64_t max_shard_bytes, const AxisSizePartitionerOptions& options) {
  if (max_shard_bytes < 1 || options.bytes_per_string_element < 1) {
    throw invalid_argument("Both max_shard_bytes and bytes_per_string_element must be positive.");
  }
  if (options.max_shards < 0) throw invalid_argument("max_shards must be positive.");
  return [=](const Shape& shape, DType dtype) {
    const size_t along = checked_axis(shape, options.axis);
    double slice_bytes = static_cast<double>(element_bytes(dtype, options.bytes_per_string_element));
    for (int d = 0; d < shape.rank(); ++d) {
      if (d != options.axis) slice_bytes *= static_cast<double>(shape[d]);
    }
    const double slices = std::max(1.0, std::floor(static_cast<double>(max_shard_bytes) / slice_bytes));
    auto shards = static_cast<int64_t>(std::ceil(static_cast<double>(shape[options.axis]) / slices));
    if (options.max_shards) shards = std::min(shards, options.max_shards);
    return cut(shape, along, shards);
  };
}

Partitioner min_max_variable_partitioner(const MinMaxPartitionerOptions& options) {
  return [=](const Shape& shape, DType dtype) {
    const size_t along = checked_axis(shape, options.axis);
    double bytes = static_cast<double>(element_bytes(dtype, options.bytes_per_string_element));
    for (int d = 0; d < shape.rank(); ++d) bytes *= static_cast<double>(shape[d]);
    const double wanted = std::ceil(bytes / static_cast<double>(options.min_slice_size));
    const double most = static_cast<double>(std::min(options.max_partitions, shape[options.axis]));
    return cut(shape, along, static_cast<int64_t>(std::max(1.0, std::min(wanted, most))));
  };
}

}  // namespace weir
