#include "ops/table_rows.h"

#define ROWS(row) row(step_send) row(step_send_dead) row(step_recv)
WEIR_OP_TABLE(net_ops, ROWS)
