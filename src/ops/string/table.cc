#include "ops/table_rows.h"

// Text.
// clang-format off
#define STRING_ROWS(row) \
  row(string_join) row(string_to_number) row(as_string) row(decode_raw) row(string_split) row(string_strip) \
  row(string_length) row(substr) row(reduce_join) row(edit_distance) row(encode_base64) row(decode_base64) \
  row(string_to_hash_bucket) row(string_to_hash_bucket_fast) row(string_to_hash_bucket_strong) row(fingerprint) \
  row(regex_full_match) row(regex_replace) row(static_regex_full_match) row(static_regex_replace) row(string_lower) \
  row(string_upper) row(string_split_v2) row(string_n_grams) row(unsorted_segment_join) row(string_format) \
  row(unicode_transcode) row(unicode_decode) row(unicode_decode_with_offsets) row(unicode_encode) row(fact) \
  row(sdca_fprint) row(unicode_script)
// clang-format on
WEIR_OP_TABLE(string_ops, STRING_ROWS)
