#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(no_op) row(assert) row(print) row(check_numerics) row(py_func) row(py_func_stateless) \
  row(if) row(stateless_if) row(while) row(stateless_while) row(fake_param)
// clang-format on
WEIR_OP_TABLE(control_ops, ROWS)
