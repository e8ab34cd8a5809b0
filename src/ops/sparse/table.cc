#include "ops/table_rows.h"

// Tensors of which few elements are there.
// clang-format off
#define SPARSE_ROWS(row) \
  row(sparse_reorder) row(sparse_reshape) row(sparse_slice) row(sparse_slice_grad) row(sparse_concat) row(sparse_split) \
  row(sparse_add) row(sparse_add_grad) row(sparse_sparse_maximum) row(sparse_sparse_minimum) \
  row(sparse_fill_empty_rows) row(sparse_fill_empty_rows_grad) row(sparse_dense_cwise_add) row(sparse_dense_cwise_mul) \
  row(sparse_dense_cwise_div) row(sparse_tensor_dense_add) row(sparse_reduce_sum) row(sparse_reduce_max) \
  row(sparse_reduce_sum_sparse) row(sparse_reduce_max_sparse) row(sparse_softmax) row(sparse_mat_mul) \
  row(deserialize_many_sparse) \
  row(sparse_cross)
// clang-format on
WEIR_OP_TABLE(sparse_ops, SPARSE_ROWS)
