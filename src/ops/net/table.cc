#include "ops/table_rows.h"

#define ROWS(row)                                                                                             \
  row(step_send) row(step_recv) row(token_send) row(token_recv) row(collective_reduce) row(collective_gather) \
      row(collective_bcast_send) row(collective_bcast_recv)
WEIR_OP_TABLE(net_ops, ROWS)
