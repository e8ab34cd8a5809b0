#include "ops/table_rows.h"

// Files: checkpoints and whole files.
#define IO_ROWS(row)

WEIR_OP_TABLE(io_ops, IO_ROWS)
