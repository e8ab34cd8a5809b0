#pragma once

#include <functional>
#include <vector>

#include "weir/dtype.h"
#include "weir/export.h"
#include "weir/shape.h"

namespace weir {

// Into how many parts each dimension of a large variable is cut: at most one of them is not 1.
using Partitioner = std::function<std::vector<int64_t>(const Shape& shape, DType dtype)>;

// As many parts along `axis`, or fewer where it is shorter.
WEIR_API Partitioner fixed_size_partitioner(int64_t shards, int axis = 0);

struct AxisSizePartitionerOptions {
  int axis = 0;
  int64_t bytes_per_string_element = 16;
  int64_t max_shards = 0;  // 0: any number
};
// Parts of at most so many bytes, where a row of `axis` is no larger.
WEIR_API Partitioner variable_axis_size_partitioner(int64_t max_shard_bytes,
                                                    const AxisSizePartitionerOptions& options = {});

struct MinMaxPartitionerOptions {
  int64_t max_partitions = 1;
  int axis = 0;
  int64_t min_slice_size = 256 << 10;
  int64_t bytes_per_string_element = 16;
};
// As many parts as there can be of at least `min_slice_size` bytes.
WEIR_API Partitioner min_max_variable_partitioner(const MinMaxPartitionerOptions& options = {});

}  // namespace weir
