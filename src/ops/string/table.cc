#include "ops/table_rows.h"

// Text.
// clang-format off
#define STRING_ROWS(row) \
  row(string_join) row(string_to_number) row(as_string) row(decode_raw) row(string_split) row(string_strip) \
  row(string_length) row(substr) row(reduce_join) row(edit_distance) row(encode_base64) row(decode_base64)
// clang-format on
WEIR_OP_TABLE(string_ops, STRING_ROWS)
