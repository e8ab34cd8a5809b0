#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(empty_tensor_list) row(tensor_list_reserve) row(tensor_list_push_back) row(tensor_list_pop_back) \
  row(tensor_list_length) row(tensor_list_element_shape) row(tensor_list_resize) \
  row(tensor_list_set_item) row(tensor_list_get_item) row(tensor_list_stack) row(tensor_list_from_tensor) \
  row(tensor_list_gather) row(tensor_list_scatter) row(tensor_list_scatter_v2) \
  row(tensor_list_scatter_into_existing_list) row(tensor_list_concat) row(tensor_list_concat_v2) \
  row(tensor_list_split) \
  row(tensor_list_concat_lists) row(tensor_list_push_back_batch) \
  row(tensor_array) row(tensor_array_v2) row(tensor_array_v3) \
  row(tensor_array_write) row(tensor_array_write_v2) row(tensor_array_write_v3) \
  row(tensor_array_read) row(tensor_array_read_v2) row(tensor_array_read_v3) \
  row(tensor_array_gather) row(tensor_array_gather_v2) row(tensor_array_gather_v3) row(tensor_array_pack) \
  row(tensor_array_scatter) row(tensor_array_scatter_v2) row(tensor_array_scatter_v3) row(tensor_array_unpack) \
  row(tensor_array_concat) row(tensor_array_concat_v2) row(tensor_array_concat_v3) \
  row(tensor_array_split) row(tensor_array_split_v2) row(tensor_array_split_v3) \
  row(tensor_array_grad) row(tensor_array_grad_v2) row(tensor_array_grad_v3) row(tensor_array_grad_with_shape) \
  row(tensor_array_size) row(tensor_array_size_v2) row(tensor_array_size_v3) \
  row(tensor_array_close) row(tensor_array_close_v2) row(tensor_array_close_v3) \
  row(stack) row(stack_v2) row(stack_push) row(stack_push_v2) row(stack_pop) row(stack_pop_v2) \
  row(stack_close) row(stack_close_v2)
// clang-format on
WEIR_OP_TABLE(list_ops, ROWS)
