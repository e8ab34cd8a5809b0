#include "ops/table_rows.h"

// What TensorBoard shows.
#define SUMMARY_ROWS(row)

WEIR_OP_TABLE(summary_ops, SUMMARY_ROWS)
