#include "ops/table_rows.h"

// Tables of values by key.
// clang-format off
#define LOOKUP_ROWS(row) \
  row(hash_table) row(hash_table_v2) row(mutable_hash_table) row(mutable_hash_table_v2) \
  row(mutable_hash_table_of_tensors) row(mutable_hash_table_of_tensors_v2) row(mutable_dense_hash_table) \
  row(mutable_dense_hash_table_v2) row(initialize_table) row(initialize_table_v2) \
  row(initialize_table_from_text_file) row(initialize_table_from_text_file_v2) row(lookup_table_find) \
  row(lookup_table_find_v2) row(lookup_table_insert) row(lookup_table_insert_v2) row(lookup_table_import) \
  row(lookup_table_import_v2) row(lookup_table_remove_v2) row(lookup_table_size) row(lookup_table_size_v2) \
  row(lookup_table_export) row(lookup_table_export_v2) \
  row(generate_vocab_remapping)
// clang-format on
WEIR_OP_TABLE(lookup_ops, LOOKUP_ROWS)
