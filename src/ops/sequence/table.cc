#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(ctc_loss) row(ctc_greedy_decoder) row(ctc_beam_search_decoder) row(gather_tree) \
  row(lstm_block_cell) row(lstm_block_cell_grad) \
  row(block_lstm) row(block_lstm_grad) row(block_lstm_v2) row(block_lstm_grad_v2) \
  row(gru_block_cell) row(gru_block_cell_grad)
// clang-format on
WEIR_OP_TABLE(sequence_ops, ROWS)
