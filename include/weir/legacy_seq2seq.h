#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/rnn.h"
#include "weir/seq2seq.h"

// Sequences to sequences along lists, one part of the graph a step: tf.contrib.legacy_seq2seq, in 0.x tf.nn.seq2seq.
namespace weir::seq2seq {

// What becomes the input of step i, of the output before.
using LoopFunction = std::function<Output(const Output& previous, int i)>;

// Runs a cell along inputs [batch, size], or on its own outputs by way of a loop function.
WEIR_API rnn::Unrolled rnn_decoder(const std::vector<Output>& inputs, const rnn::State& initial_state,
                                   const rnn::CellPtr& cell, const LoopFunction& loop = {},
                                   std::string_view scope = "rnn_decoder");
// A decoder that begins with the last state of an encoder. The cells are of one kind and have weights of their own.
WEIR_API rnn::Unrolled basic_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                         const std::vector<Output>& decoder_inputs, const rnn::CellPtr& encoder,
                                         const rnn::CellPtr& decoder, std::string_view scope = "basic_rnn_seq2seq");

// The same with one cell and one set of weights for both.
WEIR_API rnn::Unrolled tied_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                        const std::vector<Output>& decoder_inputs, const rnn::CellPtr& cell,
                                        const LoopFunction& loop = {}, std::string_view scope = "tied_rnn_seq2seq");

struct EmbeddingSeq2seqOptions {
  int64_t num_encoder_symbols = 0, num_decoder_symbols = 0, embedding_size = 0;
  bool feed_previous = false;  // of the decoder inputs only the first counts: the decoder reads what it wrote
  // Weights [size, symbols] and biases; without them a cell's output is projected to the symbols.
  std::optional<std::pair<Output, Output>> output_projection = {};
  int num_heads = 1;                     // of attention
  bool initial_state_attention = false;  // look at the encoder's outputs before the first step, too
  std::string_view scope = {};
};
// The same on symbols: int32 [batch] a step. Outputs are logits unless there is a projection.
WEIR_API rnn::Unrolled embedding_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                             const std::vector<Output>& decoder_inputs, const rnn::CellPtr& encoder,
                                             const rnn::CellPtr& decoder, const EmbeddingSeq2seqOptions& options);
// The same with one cell, one embedding and one set of weights; num_encoder_symbols counts those of both, and
// num_decoder_symbols those that are written (0: all of them).
WEIR_API rnn::Unrolled embedding_tied_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                                  const std::vector<Output>& decoder_inputs, const rnn::CellPtr& cell,
                                                  const EmbeddingSeq2seqOptions& options);
// One encoder and several decoders, in the order of their names.
struct ManyDecoder {
  std::vector<Output> inputs;
  rnn::CellPtr cell;
  int64_t num_symbols = 0;
};
WEIR_API std::map<std::string, rnn::Unrolled> one2many_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                                                   const std::map<std::string, ManyDecoder>& decoders,
                                                                   const rnn::CellPtr& encoder,
                                                                   const EmbeddingSeq2seqOptions& options);
// With a decoder that looks at the encoder's outputs in every step (Bahdanau et al., 2014).
WEIR_API rnn::Unrolled embedding_attention_seq2seq(const std::vector<Output>& encoder_inputs,
                                                   const std::vector<Output>& decoder_inputs,
                                                   const rnn::CellPtr& encoder, const rnn::CellPtr& decoder,
                                                   const EmbeddingSeq2seqOptions& options);

struct AttentionDecoderOptions {
  int64_t output_size = 0;  // 0: the cell's
  int num_heads = 1;
  LoopFunction loop = {};
  bool initial_state_attention = false;
  std::string_view scope = "attention_decoder";
};
// attention_states: [batch, length, size].
WEIR_API rnn::Unrolled attention_decoder(const std::vector<Output>& inputs, const rnn::State& initial_state,
                                         const Output& attention_states, const rnn::CellPtr& cell,
                                         const AttentionDecoderOptions& options = {});

struct ListLossOptions {
  bool average_across_timesteps = true, average_across_batch = true;
  SoftmaxLoss softmax_loss = {};
};
// The weighted cross entropy of a list of logits [batch, classes]: one number an example, and its sum or mean.
WEIR_API Output sequence_loss_by_example(const std::vector<Output>& logits, const std::vector<Output>& targets,
                                         const std::vector<Output>& weights, const ListLossOptions& options = {},
                                         std::string_view name = {});
WEIR_API Output sequence_loss(const std::vector<Output>& logits, const std::vector<Output>& targets,
                              const std::vector<Output>& weights, const ListLossOptions& options = {},
                              std::string_view name = {});

// A model for each bucket, the lengths of what is read and written, with shared weights: outputs, and their losses.
// Throws InvalidArgument when a list is shorter than the last bucket.
struct Bucket {
  size_t encoder_size, decoder_size;
};
struct BucketModel {
  std::vector<Output> outputs;
  Output loss;
};
using Seq2seq = std::function<std::vector<Output>(const std::vector<Output>& encoder_inputs,
                                                  const std::vector<Output>& decoder_inputs)>;
struct BucketOptions {
  SoftmaxLoss softmax_loss = {};
  bool per_example_loss = false;  // losses [batch]
  std::string_view name = {};
};
WEIR_API std::vector<BucketModel> model_with_buckets(const std::vector<Output>& encoder_inputs,
                                                     const std::vector<Output>& decoder_inputs,
                                                     const std::vector<Output>& targets,
                                                     const std::vector<Output>& weights,
                                                     const std::vector<Bucket>& buckets, const Seq2seq& model,
                                                     const BucketOptions& options = {});

}  // namespace weir::seq2seq
