#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(fifo_queue) row(fifo_queue_v2) row(padding_fifo_queue) row(padding_fifo_queue_v2) \
  row(random_shuffle_queue) row(random_shuffle_queue_v2) row(priority_queue) row(priority_queue_v2) row(fake_queue) row(select_handle) \
  row(queue_enqueue) row(queue_enqueue_v2) row(queue_enqueue_many) row(queue_enqueue_many_v2) \
  row(queue_dequeue) row(queue_dequeue_v2) row(queue_dequeue_many) row(queue_dequeue_many_v2) \
  row(queue_dequeue_up_to) row(queue_dequeue_up_to_v2) \
  row(queue_close) row(queue_close_v2) row(queue_size) row(queue_size_v2) row(queue_is_closed) row(queue_is_closed_v2)
// clang-format on
WEIR_OP_TABLE(queue_ops, ROWS)
