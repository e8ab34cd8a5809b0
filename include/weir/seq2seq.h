#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/rnn.h"

// Sequences to sequences: what looks at the outputs of an encoder, and what writes a sequence step by step.
//
//   auto attention = std::make_shared<seq2seq::LuongAttention>(128, memory, seq2seq::AttentionOptions{.lengths =
//   lengths}); auto cell = std::make_shared<seq2seq::AttentionWrapper>(rnn::lstm(128), attention, ...);
//   seq2seq::TrainingHelper helper(inputs, target_lengths);
//   seq2seq::BasicDecoder decoder(cell, helper, cell->zero_state(g, batch));
//   auto [outputs, state, lengths] = seq2seq::dynamic_decode(decoder);
namespace weir::seq2seq {

// ---- Attention.

// One where the logits are largest along the last dimension, zero elsewhere.
WEIR_API Output hardmax(const Output& logits, std::string_view name = {});
// cumprod of numbers in [0, 1] by way of logarithms, so that gradients stay finite.
WEIR_API Output safe_cumprod(const Output& x, int axis, bool exclusive = false);
// How likely a monotonic attention is at each place of the memory (Raffel et al., 2017): `p_choose` [batch, length]
// says how likely it stops there, `previous` where it was. "recursive", "parallel" or "hard" (all 0 or 1).
WEIR_API Output monotonic_attention(const Output& p_choose, const Output& previous, const std::string& mode);
// Scores [batch, length] of a query [batch, units] by keys [batch, length, units]. Throws InvalidArgument when units
// differ. Luong's: products, times `scale` if there is one. Bahdanau's: v * tanh(keys + query), normalised with g and
// b.
WEIR_API Output luong_score(const Output& query, const Output& keys, const Output& scale = {});
WEIR_API Output bahdanau_score(const Output& query, const Output& keys, const Output& v, const Output& g = {},
                               const Output& b = {});
// A memory [batch, length, ...] with zeros behind the lengths, and scores with `value` there.
WEIR_API Output masked_memory(const Output& memory, const Output& lengths);
WEIR_API Output masked_scores(const Output& scores, const Output& lengths, const In& value);

struct AttentionOptions {
  Output lengths = {};     // int32 [batch]: what is behind them in the memory is not looked at
  bool scale = false;      // Luong's: the scores are times a learned number
  bool normalize = false;  // Bahdanau's: v is a learned direction and length
  std::function<Output(const Output&)> probability = {};  // of scores; by default softmax
  std::string name = {};
};
// What a decoder looks at: scores a query against a memory. One's own derives from this.
class WEIR_API AttentionMechanism {
 public:
  virtual ~AttentionMechanism() = default;
  // Weights [batch, length] of the memory; `previous` are those of the step before.
  virtual Output operator()(const Output& query, const Output& previous) = 0;
  // What is `previous` in the first step: nothing, unless a mechanism says otherwise.
  virtual Output initial_alignments(const In& batch_size, DType dtype) const;
  const Output& values() const { return values_; }  // the memory, masked
  const Output& keys() const { return keys_; }

 protected:
  // The keys are the memory times a learned matrix "memory_layer/kernel".
  AttentionMechanism(const Output& memory, int64_t units, const AttentionOptions& options);
  Output probabilities(const Output& scores) const;
  AttentionOptions options_;
  int64_t units_;
  Output values_, keys_;
};
using AttentionPtr = std::shared_ptr<AttentionMechanism>;

class WEIR_API LuongAttention : public AttentionMechanism {
 public:
  LuongAttention(int64_t units, const Output& memory, const AttentionOptions& options = {})
      : AttentionMechanism(memory, units, options) {}
  Output operator()(const Output& query, const Output& previous) override;
};
class WEIR_API BahdanauAttention : public AttentionMechanism {
 public:
  BahdanauAttention(int64_t units, const Output& memory, const AttentionOptions& options = {})
      : AttentionMechanism(memory, units, options) {}
  Output operator()(const Output& query, const Output& previous) override;

 private:
  Variable query_kernel_;
};

struct MonotonicOptions {
  Output lengths = {};
  bool scale = false, normalize = false;  // of Luong's and of Bahdanau's scores
  float score_bias_init = 0;              // of a learned number that is added to the scores
  float sigmoid_noise = 0;                // times random normal numbers, added to the scores in training
  std::optional<int64_t> seed = {};
  std::string mode = "parallel";  // or "recursive", "hard": monotonic_attention
};
// Attention that begins at the first place and only goes on (Raffel et al., 2017), with either kind of scores.
class WEIR_API MonotonicAttention : public AttentionMechanism {
 public:
  Output initial_alignments(const In& batch_size, DType dtype) const override;

 protected:
  MonotonicAttention(const Output& memory, int64_t units, const MonotonicOptions& options);
  Output attended(const Output& scores, const Output& previous) const;
  MonotonicOptions monotonic_;
};
class WEIR_API LuongMonotonicAttention : public MonotonicAttention {
 public:
  LuongMonotonicAttention(int64_t units, const Output& memory, const MonotonicOptions& options = {})
      : MonotonicAttention(memory, units, options) {}
  Output operator()(const Output& query, const Output& previous) override;
};
class WEIR_API BahdanauMonotonicAttention : public MonotonicAttention {
 public:
  BahdanauMonotonicAttention(int64_t units, const Output& memory, const MonotonicOptions& options = {})
      : MonotonicAttention(memory, units, options) {}
  Output operator()(const Output& query, const Output& previous) override;

 private:
  Variable query_kernel_;
};

struct AttentionWrapperOptions {
  std::optional<int64_t> attention_layer_size = {};  // of a learned map of output and context; none: the context itself
  bool output_attention = true;                      // false: the cell's own output
  rnn::State initial_cell_state = {};
  std::string name = {};
};
// A cell that gets what it looked at last beside its inputs. Its state is the cell's, then the attention, then the
// weights.
class WEIR_API AttentionWrapper : public rnn::Cell {
 public:
  AttentionWrapper(rnn::CellPtr cell, AttentionPtr attention, const AttentionWrapperOptions& options = {});
  std::vector<Shape> state_size() const override;
  Shape output_size() const override;
  std::vector<bool> memories() const override;
  rnn::State zero_state(Graph& graph, const In& batch_size, DType dtype = float32) const override;

 protected:
  rnn::Step call(const Output& inputs, const rnn::State& state) override;

 private:
  int64_t attention_size() const;
  rnn::CellPtr cell_;
  AttentionPtr attention_;
  AttentionWrapperOptions options_;
  Variable layer_;
};

// ---- Decoding.

struct DecoderStart {
  Output finished;  // bool [batch]
  Output inputs;
  rnn::State state;
};
struct DecoderStep {
  std::vector<Output> outputs;
  rnn::State state;
  Output inputs;  // of the next step
  Output finished;
};
// What writes sequences step by step.
class WEIR_API Decoder {
 public:
  virtual ~Decoder() = default;
  virtual std::vector<Shape> output_sizes() const = 0;  // without the batch
  virtual std::vector<DType> output_types() const = 0;
  virtual DecoderStart initialize() = 0;
  virtual DecoderStep step(const Output& time, const Output& inputs, const rnn::State& state) = 0;
  virtual bool tracks_own_finished() const { return false; }  // true: a row that ended may go on
  // What becomes of the outputs [time, batch, ...] in the end.
  virtual std::vector<Output> finalize(const std::vector<Output>& outputs, const rnn::State& /*state*/) {
    return outputs;
  }
};
struct DecodeOptions {
  bool output_time_major = false;
  bool impute_finished = false;  // rows that ended give zeros and keep their state
  std::optional<In> maximum_iterations = {};
  std::string_view scope = "decoder";
};
struct Decoded {
  std::vector<Output> outputs;  // [batch, time, ...]
  rnn::State state;
  Output lengths;  // int32 [batch]
};
WEIR_API Decoded dynamic_decode(Decoder& decoder, const DecodeOptions& options = {});

// Where the inputs of a decoder come from. One's own derives from this.
class WEIR_API Helper {
 public:
  virtual ~Helper() = default;
  struct Next {
    Output finished, inputs;
  };
  virtual Next initialize() = 0;
  virtual Output sample(const Output& time, const Output& outputs) = 0;
  // What a sample is, without the batch.
  virtual Shape sample_size() const { return {}; }
  virtual DType sample_type() const { return int32; }
  virtual Next next_inputs(const Output& time, const Output& outputs, const Output& sample_ids) = 0;
};
// The right inputs: [batch, time, size].
class WEIR_API TrainingHelper : public Helper {
 public:
  TrainingHelper(const Output& inputs, const Output& lengths, bool time_major = false);
  ~TrainingHelper() override;
  const Output& lengths() const;
  Next initialize() override;
  Output sample(const Output& time, const Output& outputs) override;
  Next next_inputs(const Output& time, const Output& outputs, const Output& sample_ids) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
using Embedding = std::function<Output(const Output& ids)>;
// The embedded likeliest class of the step before, from `start_tokens` (int32 [batch]) until `end_token`.
class WEIR_API GreedyEmbeddingHelper : public Helper {
 public:
  GreedyEmbeddingHelper(Embedding embedding, const In& start_tokens, const In& end_token, Graph& graph);
  Next initialize() override;
  Output sample(const Output& time, const Output& outputs) override;
  Next next_inputs(const Output& time, const Output& outputs, const Output& sample_ids) override;

 protected:
  Embedding embedding_;
  Output start_tokens_, end_token_, start_inputs_;
};
// The same with classes drawn at random.
class WEIR_API SampleEmbeddingHelper : public GreedyEmbeddingHelper {
 public:
  SampleEmbeddingHelper(Embedding embedding, const In& start_tokens, const In& end_token, Graph& graph,
                        std::optional<float> softmax_temperature = {}, std::optional<int64_t> seed = {});
  Output sample(const Output& time, const Output& outputs) override;

 private:
  std::optional<float> temperature_;
  std::optional<int64_t> seed_;
};

// A layer behind a cell: size of its result, and the function.
struct OutputLayer {
  int64_t units = 0;
  std::function<Output(const Output&)> apply = {};
  explicit operator bool() const { return static_cast<bool>(apply); }
};
// A learned matrix "<name>/kernel", with a bias unless told otherwise.
WEIR_API OutputLayer dense_layer(int64_t units, bool use_bias = true, const std::string& name = "dense");

// Runs a cell on the inputs of a helper. Outputs: what the cell (or the layer behind it) gives, and the helper's
// samples.
class WEIR_API BasicDecoder : public Decoder {
 public:
  BasicDecoder(rnn::CellPtr cell, Helper& helper, rnn::State initial_state, OutputLayer output_layer = {});
  std::vector<Shape> output_sizes() const override;
  std::vector<DType> output_types() const override;
  DecoderStart initialize() override;
  DecoderStep step(const Output& time, const Output& inputs, const rnn::State& state) override;

 private:
  rnn::CellPtr cell_;
  Helper& helper_;
  rnn::State initial_state_;
  OutputLayer output_layer_;
};

// ---- Beams.

// Every row `multiplier` times, one after the other.
WEIR_API Output tile_batch(const Output& t, int64_t multiplier, std::string_view name = {});
WEIR_API rnn::State tile_batch(const rnn::State& state, int64_t multiplier, std::string_view name = {});
// The elements [time, batch * beam or batch, beam, ...] in the order of the sequences that parents [time, batch, beam]
// make.
WEIR_API Output gather_tree_from_array(const Output& t, const Output& parent_ids, const Output& sequence_length);

// One step of a beam search over log probabilities.
struct BeamState {
  Output log_probs;       // [batch, beam]
  Output finished;        // bool [batch, beam]
  Output lengths;         // int64 [batch, beam]
  Output attention = {};  // sums of attention weights [batch, beam, length], where coverage counts
};
struct BeamOptions {
  In end_token;
  In length_penalty = 0.f, coverage_penalty = 0.f;  // Wu et al., 2016
  Output attention_probs = {};                      // of this step; with a coverage penalty
};
struct BeamStep {
  Output scores, predicted_ids, parent_ids;  // [batch, beam]
  BeamState state;
};
WEIR_API BeamStep beam_search_step(const Output& logits, const BeamState& state, const BeamOptions& options);
// x [batch, beam, ...] by beams: row j is that of parents[batch, j].
WEIR_API Output gather_beams(const Output& x, const Output& parents, std::string_view name = {});

struct BeamSearchOptions {
  OutputLayer output_layer = {};
  float length_penalty_weight = 0;
};
// Keeps the `beam_width` likeliest sequences. The state is tiled (tile_batch). Outputs: the sequences [time, batch,
// beam], and their scores.
class WEIR_API BeamSearchDecoder : public Decoder {
 public:
  BeamSearchDecoder(rnn::CellPtr cell, Embedding embedding, const Output& start_tokens, const In& end_token,
                    rnn::State initial_state, int64_t beam_width, const BeamSearchOptions& options = {});
  std::vector<Shape> output_sizes() const override;
  std::vector<DType> output_types() const override;
  DecoderStart initialize() override;
  DecoderStep step(const Output& time, const Output& inputs, const rnn::State& state) override;
  bool tracks_own_finished() const override { return true; }
  std::vector<Output> finalize(const std::vector<Output>& outputs, const rnn::State& state) override;

 private:
  rnn::CellPtr cell_;
  Embedding embedding_;
  Output start_tokens_, end_token_, start_inputs_;
  rnn::State initial_state_;
  int64_t beam_width_;
  BeamSearchOptions options_;
};

// ---- Losses.

using SoftmaxLoss = std::function<Output(const Output& labels, const Output& logits)>;
struct SequenceLossOptions {
  bool average_across_timesteps = true, average_across_batch = true;
  bool sum_over_timesteps = false, sum_over_batch = false;
  SoftmaxLoss softmax_loss = {};  // by default sparse softmax cross entropy
  std::string_view name = {};
};
// The weighted cross entropy of logits [batch, time, classes], targets and weights [batch, time].
WEIR_API Output sequence_loss(const Output& logits, const Output& targets, const Output& weights,
                              const SequenceLossOptions& options = {});

}  // namespace weir::seq2seq
