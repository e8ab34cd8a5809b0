#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(dense_to_dense_set_operation) row(dense_to_sparse_set_operation) row(sparse_to_sparse_set_operation) \
  row(set_size)
// clang-format on
WEIR_OP_TABLE(set_ops, ROWS)
