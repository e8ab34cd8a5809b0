#pragma once

#include "weir/export.h"
#include "weir/graph.h"

// Linear-chain conditional random fields: tags of sequences whose scores are those of single tags, `inputs`
// [batch, time, tags], and those of neighbours, `transitions` [tags, tags]. Tags and lengths are int32 or int64.
namespace weir::crf {

// The scores of sequences of tags [batch, time]: their sum, that of the single tags, and that of neighbours: [batch].
WEIR_API Output sequence_score(const Output& inputs, const Output& tags, const Output& lengths,
                               const Output& transitions);
WEIR_API Output unary_score(const Output& tags, const Output& lengths, const Output& inputs);
WEIR_API Output binary_score(const Output& tags, const Output& lengths, const Output& transitions);
// log(sum(exp(score))) over all sequences, and over those that a bitmap [batch, time, tags] allows.
WEIR_API Output log_norm(const Output& inputs, const Output& lengths, const Output& transitions);
WEIR_API Output multitag_sequence_score(const Output& inputs, const Output& bitmap, const Output& lengths,
                                        const Output& transitions);
// The log probability of the tags: sequence_score - log_norm. Without transitions a variable "transitions" is made.
struct LogLikelihood {
  Output log_likelihood, transitions;
};
WEIR_API LogLikelihood log_likelihood(const Output& inputs, const Output& tags, const Output& lengths,
                                      const Output& transitions = {});
// The best tags [batch, time], int32, and their scores.
struct Decoding {
  Output tags, scores;
};
WEIR_API Decoding decode(const Output& inputs, const Output& transitions, const Output& lengths);

}  // namespace weir::crf
