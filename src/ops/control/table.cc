#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(no_op) row(assert) row(print) row(check_numerics) row(py_func) row(py_func_stateless)
// clang-format on
WEIR_OP_TABLE(control_ops, ROWS)
