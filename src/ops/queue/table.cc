#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(fifo_queue) row(fifo_queue_v2) row(padding_fifo_queue) row(padding_fifo_queue_v2) \
  row(random_shuffle_queue) row(random_shuffle_queue_v2) row(priority_queue) row(priority_queue_v2) row(fake_queue) row(select_handle) \
  row(queue_enqueue) row(queue_enqueue_v2) row(queue_enqueue_many) row(queue_enqueue_many_v2) \
  row(queue_dequeue) row(queue_dequeue_v2) row(queue_dequeue_many) row(queue_dequeue_many_v2) \
  row(queue_dequeue_up_to) row(queue_dequeue_up_to_v2) \
  row(queue_close) row(queue_close_v2) row(queue_size) row(queue_size_v2) row(queue_is_closed) row(queue_is_closed_v2) \
  row(add_sparse_to_tensors_map) row(add_many_sparse_to_tensors_map) row(take_many_sparse_from_tensors_map) \
  row(barrier) row(barrier_insert_many) row(barrier_take_many) row(barrier_close) row(barrier_ready_size) \
  row(barrier_incomplete_size) \
  row(stage) row(unstage) row(stage_peek) row(stage_size) row(stage_clear) \
  row(map_stage) row(map_unstage) row(map_unstage_no_key) row(map_peek) row(map_size) row(map_incomplete_size) \
  row(map_clear) row(ordered_map_stage) row(ordered_map_unstage) row(ordered_map_unstage_no_key) row(ordered_map_peek) \
  row(ordered_map_size) row(ordered_map_incomplete_size) row(ordered_map_clear) \
  row(conditional_accumulator) row(resource_conditional_accumulator) row(sparse_conditional_accumulator) \
  row(accumulator_apply_gradient) row(resource_accumulator_apply_gradient) row(sparse_accumulator_apply_gradient) \
  row(accumulator_take_gradient) row(resource_accumulator_take_gradient) row(sparse_accumulator_take_gradient) \
  row(accumulator_num_accumulated) row(resource_accumulator_num_accumulated) \
  row(accumulator_set_global_step) row(resource_accumulator_set_global_step) \
  row(batch_function) row(batch) row(unbatch) row(unbatch_grad)
// clang-format on
WEIR_OP_TABLE(queue_ops, ROWS)
