#include "ops/table_rows.h"

// clang-format off
#define ROWS(row)
// clang-format on
WEIR_OP_TABLE(quantized_ops, ROWS)
