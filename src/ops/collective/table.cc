#include "ops/table_rows.h"

#define ROWS(row) row(horovod_allreduce) row(horovod_allgather) row(horovod_broadcast)
WEIR_OP_TABLE(collective_ops, ROWS)
