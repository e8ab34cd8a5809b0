#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(placeholder) row(placeholder_with_default) row(const) row(identity) row(identity_n) row(copy) row(stop_gradient) \
  row(prevent_gradient) row(shape) row(shape_n) row(size) row(rank) row(reshape) row(expand_dims) row(squeeze) \
  row(transpose) row(invert_permutation) row(reverse_v2) row(concat_v2) row(concat) row(concat_offset) row(split) \
  row(split_v) row(pack) row(unpack) row(slice) row(strided_slice) row(strided_slice_grad) row(gather) row(gather_v2) \
  row(gather_nd) row(scatter_nd) row(fill) row(zeros_like) row(ones_like) row(range) row(tile) row(pad) row(pad_v2) \
  row(broadcast_to) row(broadcast_gradient_args) row(one_hot) row(where) row(unsorted_segment_sum) \
  row(dynamic_stitch) row(parallel_dynamic_stitch) row(dynamic_partition) row(sparse_to_dense) row(resource_gather) \
  row(space_to_batch_nd) row(batch_to_space_nd) row(space_to_depth) row(depth_to_space) row(mirror_pad) \
  row(mirror_pad_grad) row(reverse_sequence) row(list_diff) row(lin_space) row(ensure_shape) row(roll) row(bitcast) \
  row(tensor_scatter_update) row(tensor_scatter_add) row(tensor_scatter_sub) row(scatter_nd_non_aliasing_add) \
  row(lower_bound) row(upper_bound) row(bucketize) row(histogram_fixed_width) \
  row(broadcast_args) row(conjugate_transpose) row(placeholder_v2) row(reverse_old) row(space_to_batch) \
  row(batch_to_space) row(parallel_concat) row(deep_copy) row(snapshot) row(guarantee_const) row(empty) \
  row(inplace_update) row(inplace_add) row(inplace_sub) row(unravel_index) row(unique_v2) row(unique_with_counts_v2) \
  row(tile_grad) row(compare_and_bitpack) row(strided_slice_assign) row(resource_strided_slice_assign) \
  row(tensor_strided_slice_update) row(resource_gather_nd) row(extract_volume_patches) \
  row(ragged_range) row(ragged_gather) row(ragged_tensor_to_sparse) \
  row(ragged_tensor_to_tensor) row(ragged_tensor_to_variant) row(ragged_tensor_from_variant) \
  row(debug_gradient_identity)
// clang-format on
WEIR_OP_TABLE(array_ops, ROWS)
