#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Sets, counts, segments and masks.
namespace weir {

// Distinct elements in order of appearance, for every element the place of its equal, and how often each occurs.
struct Unique {
  Output y, idx;
};
WEIR_API Unique unique(const In& x, DType out_idx = int32, std::string_view name = {});
struct UniqueWithCounts {
  Output y, idx, count;
};
WEIR_API UniqueWithCounts unique_with_counts(const In& x, DType out_idx = int32, std::string_view name = {});
// The elements of x that are not in y, and where in x they stand.
struct SetDifference {
  Output out, idx;
};
WEIR_API SetDifference setdiff1d(const In& x, const In& y, DType out_idx = int32, std::string_view name = {});

// How often (or with which sum of weights) each of 0 .. size-1 occurs. `weights` may be empty.
WEIR_API Output bincount(const In& arr, const In& size, const In& weights, std::string_view name = {});
// `num` evenly spaced numbers from start to stop.
WEIR_API Output linspace(const In& start, const In& stop, const In& num, std::string_view name = {});
// Fails unless the tensor fits the shape; what is known of both is known of the result.
WEIR_API Output ensure_shape(const In& x, const Shape& shape, std::string_view name = {});

// `default_value` everywhere but at the given coordinates.
WEIR_API Output sparse_to_dense(const In& sparse_indices, const In& output_shape, const In& sparse_values,
                                const In& default_value = 0, bool validate_indices = true, std::string_view name = {});
// A tensor with slices at these coordinates set, added to or subtracted from; where they repeat, the last one is set.
WEIR_API Output tensor_scatter_update(const In& tensor, const In& indices, const In& updates,
                                      std::string_view name = {});
WEIR_API Output tensor_scatter_add(const In& tensor, const In& indices, const In& updates, std::string_view name = {});
WEIR_API Output tensor_scatter_sub(const In& tensor, const In& indices, const In& updates, std::string_view name = {});
// Rows of a resource variable, without reading all of it. The gradient is sparse.
WEIR_API Output resource_gather(const Variable& variable, const In& indices, std::string_view name = {});

// Reductions of rows with equal ids: sorted ids, and ids in any order of which negative ones are dropped. Segments
// without rows give 0 (1 for products); of unsorted ones the largest (smallest) number for min (max).
WEIR_API Output segment_mean(const In& data, const In& segment_ids, std::string_view name = {});
WEIR_API Output segment_max(const In& data, const In& segment_ids, std::string_view name = {});
WEIR_API Output segment_min(const In& data, const In& segment_ids, std::string_view name = {});
WEIR_API Output segment_prod(const In& data, const In& segment_ids, std::string_view name = {});
WEIR_API Output unsorted_segment_max(const In& data, const In& segment_ids, const In& num_segments,
                                     std::string_view name = {});
WEIR_API Output unsorted_segment_min(const In& data, const In& segment_ids, const In& num_segments,
                                     std::string_view name = {});
WEIR_API Output unsorted_segment_prod(const In& data, const In& segment_ids, const In& num_segments,
                                      std::string_view name = {});
// The same for chosen rows: row indices[i] of the data belongs to segment segment_ids[i], sorted. sqrt_n divides the
// sum by the root of the number of rows. Without num_segments there are as many segments as the last id says.
WEIR_API Output sparse_segment_sum(const In& data, const In& indices, const In& segment_ids,
                                   const std::optional<In>& num_segments = {}, std::string_view name = {});
WEIR_API Output sparse_segment_mean(const In& data, const In& indices, const In& segment_ids,
                                    const std::optional<In>& num_segments = {}, std::string_view name = {});
WEIR_API Output sparse_segment_sqrt_n(const In& data, const In& indices, const In& segment_ids,
                                      const std::optional<In>& num_segments = {}, std::string_view name = {});

// A matrix [rows, columns] that is zero but for values[i] at indices[i]; equal indices add up.
struct SparseMatrix {
  In indices, values;  // int64 [n, 2]; [n]
  In dense_shape;      // int64 [2]
};
struct AdjointOptions {
  bool adjoint_a = false, adjoint_b = false;  // of the conjugate transpose instead
};
// The product of a sparse matrix and a dense one.
WEIR_API Output sparse_tensor_dense_matmul(const SparseMatrix& a, const In& b, const AdjointOptions& options = {},
                                           std::string_view name = {});

// [lengths..., maxlen]: true where the last coordinate is below the length. Without maxlen the largest length.
WEIR_API Output sequence_mask(const In& lengths, const std::optional<In>& maxlen = {}, DType dtype = boolean,
                              std::string_view name = {});
// The slices of `tensor` where `mask`, of the shape of its dimensions from `axis` on, is true.
WEIR_API Output boolean_mask(const In& tensor, const In& mask, int axis = 0, std::string_view name = {});
// Coordinates as matrices: 'xy' (true) exchanges the first two dimensions of the result.
WEIR_API std::vector<Output> meshgrid(const InList& axes, bool xy = true, std::string_view name = {});
// Row: true class; column: predicted class; element: how many.
struct ConfusionMatrixOptions {
  std::optional<In> num_classes = {};  // one more than the largest
  DType dtype = int32;
  std::optional<In> weights = {};
};
WEIR_API Output confusion_matrix(const In& labels, const In& predictions, const ConfusionMatrixOptions& options = {},
                                 std::string_view name = {});

}  // namespace weir
