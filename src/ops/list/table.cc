#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(empty_tensor_list) row(tensor_list_reserve) row(tensor_list_push_back) row(tensor_list_pop_back) \
  row(tensor_list_length) row(tensor_list_element_shape) row(tensor_list_resize) \
  row(tensor_list_set_item) row(tensor_list_get_item) row(tensor_list_stack) row(tensor_list_from_tensor) \
  row(tensor_list_gather) row(tensor_list_scatter) row(tensor_list_scatter_v2) \
  row(tensor_list_scatter_into_existing_list) row(tensor_list_concat) row(tensor_list_concat_v2) \
  row(tensor_list_split) \
  row(tensor_list_concat_lists) row(tensor_list_push_back_batch)
// clang-format on
WEIR_OP_TABLE(list_ops, ROWS)
