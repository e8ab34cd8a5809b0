#include "ops/table_rows.h"

// What TensorBoard shows.
// clang-format off
#define SUMMARY_ROWS(row) \
  row(scalar_summary) row(histogram_summary) row(image_summary) row(audio_summary) row(audio_summary_v2) \
  row(merge_summary) row(tensor_summary) row(tensor_summary_v2) \
  row(summary_writer) row(create_summary_file_writer) row(flush_summary_writer) row(close_summary_writer) \
  row(write_raw_proto_summary) row(write_graph_summary) row(write_summary) row(write_scalar_summary) \
  row(write_histogram_summary) row(write_image_summary) row(write_audio_summary)
// clang-format on

WEIR_OP_TABLE(summary_ops, SUMMARY_ROWS)
