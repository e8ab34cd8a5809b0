#include "ops/table_rows.h"

// Files, and what stands in them: checkpoints, whole files, readers, examples, comma-separated values.
// clang-format off
#define IO_ROWS(row) \
  row(save) row(save_slices) row(save_v2) row(restore) row(restore_slice) row(restore_v2) row(merge_v2_checkpoints) \
  row(sharded_filename) row(sharded_filespec) row(read_file) row(write_file) row(matching_files) \
  row(parse_example) row(parse_single_example) row(parse_single_sequence_example) row(parse_sequence_example) \
  row(parse_tensor) row(serialize_tensor) row(decode_csv) row(decode_compressed) row(decode_json_example) \
  row(decode_padded_raw) \
  row(tf_record_reader) row(tf_record_reader_v2) row(text_line_reader) row(text_line_reader_v2) \
  row(fixed_length_record_reader) row(fixed_length_record_reader_v2) row(whole_file_reader) row(whole_file_reader_v2) \
  row(identity_reader) row(identity_reader_v2) \
  row(reader_read) row(reader_read_v2) row(reader_read_up_to) row(reader_read_up_to_v2) \
  row(reader_num_records_produced) row(reader_num_records_produced_v2) row(reader_num_work_units_completed) \
  row(reader_num_work_units_completed_v2) row(reader_reset) row(reader_reset_v2) row(reader_serialize_state) \
  row(reader_serialize_state_v2) row(reader_restore_state) row(reader_restore_state_v2) \
  row(load_and_remap_matrix) row(immutable_const) row(decode_proto_v2) row(encode_proto) \
  row(record_input) row(lmdb_reader)
// clang-format on

WEIR_OP_TABLE(io_ops, IO_ROWS)
