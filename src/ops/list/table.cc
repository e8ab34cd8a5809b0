#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(empty_tensor_list) row(tensor_list_push_back) row(tensor_list_pop_back) row(tensor_list_length) \
  row(tensor_list_stack) row(tensor_list_from_tensor)
// clang-format on
WEIR_OP_TABLE(list_ops, ROWS)
