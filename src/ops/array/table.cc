#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(identity)
// clang-format on
WEIR_OP_TABLE(array_ops, ROWS)
