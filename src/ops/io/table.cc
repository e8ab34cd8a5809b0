#include "ops/table_rows.h"

// Files: checkpoints and whole files.
#define IO_ROWS(row)                                                                                                \
  row(save) row(save_slices) row(save_v2) row(restore) row(restore_slice) row(restore_v2) row(merge_v2_checkpoints) \
      row(sharded_filename) row(sharded_filespec) row(read_file) row(write_file) row(matching_files)

WEIR_OP_TABLE(io_ops, IO_ROWS)
