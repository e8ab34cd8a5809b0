#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(no_op) row(assert) row(print) row(check_numerics) row(py_func) row(py_func_stateless) \
  row(if) row(stateless_if) row(while) row(stateless_while) row(fake_param) \
  row(switch) row(ref_switch) row(merge) row(ref_merge) row(enter) row(ref_enter) row(exit) row(ref_exit) \
  row(next_iteration) row(ref_next_iteration) row(loop_cond) row(control_trigger) row(ref_select) \
  row(mutex_v2) row(mutex_lock) row(consume_mutex_lock) row(timestamp) row(print_v2) row(eager_py_func) \
  row(partitioned_call) row(stateful_partitioned_call) row(remote_call) row(symbolic_gradient) row(case) row(map_defun) row(abort)
// clang-format on
WEIR_OP_TABLE(control_ops, ROWS)
