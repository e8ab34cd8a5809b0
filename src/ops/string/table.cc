#include "ops/table_rows.h"

// Text.
#define STRING_ROWS(row) row(string_join)

WEIR_OP_TABLE(string_ops, STRING_ROWS)
