#include "ops/table_rows.h"

// What TensorBoard shows.
// clang-format off
#define SUMMARY_ROWS(row) \
  row(scalar_summary) row(histogram_summary) row(image_summary) row(audio_summary) row(audio_summary_v2) \
  row(merge_summary) row(tensor_summary) row(tensor_summary_v2)
// clang-format on

WEIR_OP_TABLE(summary_ops, SUMMARY_ROWS)
