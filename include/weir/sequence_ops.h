#pragma once

#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Operations on whole sequences: connectionist temporal classification, fused recurrent steps, beams of a search.
namespace weir::nn {

// A sparse tensor: int64 indices [n, rank], values [n], int64 dense_shape [rank].
struct SparseOutput {
  Output indices, values, dense_shape;
};

// Connectionist temporal classification (Graves et al., 2006). `inputs` are logits [time, batch, classes], or
// [batch, time, classes] unless time_major; the last class is the blank. `labels` are sparse int32 [batch, length].
struct CtcLossOptions {
  bool preprocess_collapse_repeated = false;  // repeated labels count once before anything else
  bool ctc_merge_repeated = true;             // false: repeated labels need no blank between them
  bool ignore_longer_outputs_than_inputs = false;
  bool time_major = true;
};
// The negative log probability of each sequence of labels: [batch].
WEIR_API Output ctc_loss(const SparseOutput& labels, const In& inputs, const In& sequence_length,
                         const CtcLossOptions& options = {}, std::string_view name = {});

// What the network says: the best class of every step, without blanks and repetitions.
struct CtcGreedyDecoding {
  SparseOutput decoded;
  Output neg_sum_logits;  // [batch, 1]
};
WEIR_API CtcGreedyDecoding ctc_greedy_decoder(const In& inputs, const In& sequence_length, bool merge_repeated = true,
                                              std::string_view name = {});
struct CtcBeamSearchOptions {
  int64_t beam_width = 100, top_paths = 1;
  bool merge_repeated = true;  // of the labels of a path, as TensorFlow 1 does
};
struct CtcBeamSearchDecoding {
  std::vector<SparseOutput> decoded;  // the best paths, best first
  Output log_probability;             // [batch, top_paths]
};
WEIR_API CtcBeamSearchDecoding ctc_beam_search_decoder(const In& inputs, const In& sequence_length,
                                                       const CtcBeamSearchOptions& options = {},
                                                       std::string_view name = {});

// Whole sequences from the steps of a beam search: ids and parents [time, batch, beam], int32. What comes after
// `end_token` is `end_token`.
WEIR_API Output gather_tree(const In& step_ids, const In& parent_ids, const In& max_sequence_lengths,
                            const In& end_token, std::string_view name = {});

// LSTM in one operation. w is [inputs + units, 4 * units] with the gates in the order input, candidate, forget, output.
struct LstmBlockOptions {
  float forget_bias = 1, cell_clip = 3;  // a clip of 0 or less clips nothing
  bool use_peephole = false;
};
struct LstmBlockArgs {
  In w, wci, wcf, wco, b;  // the peepholes [units] count only with use_peephole
};
struct LstmBlockOutputs {
  Output i, cs, f, o, ci, co, h;
};
// One step: x [batch, inputs], cs_prev and h_prev [batch, units].
WEIR_API LstmBlockOutputs lstm_block_cell(const In& x, const In& cs_prev, const In& h_prev, const LstmBlockArgs& args,
                                          const LstmBlockOptions& options = {}, std::string_view name = {});
// All steps: x [time, batch, inputs]; outputs [time, batch, units], zeros from step `seq_len_max` (int64) on.
WEIR_API LstmBlockOutputs block_lstm(const In& seq_len_max, const In& x, const In& cs_prev, const In& h_prev,
                                     const LstmBlockArgs& args, const LstmBlockOptions& options = {},
                                     std::string_view name = {});

// One step of a GRU: w_ru [inputs + units, 2 * units], w_c [inputs + units, units].
struct GruBlockOutputs {
  Output r, u, c, h;
};
WEIR_API GruBlockOutputs gru_block_cell(const In& x, const In& h_prev, const In& w_ru, const In& w_c, const In& b_ru,
                                        const In& b_c, std::string_view name = {});

}  // namespace weir::nn
