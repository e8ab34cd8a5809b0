#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "weir/seq2seq.h"

// Helpers that mix what is right with what the decoder wrote itself, and those whose inputs functions make of its
// outputs. The plain ones are in seq2seq.h.
namespace weir::seq2seq {

struct SampleOptions {
  DType dtype = int32;
  std::optional<In> sample_shape = {};  // a vector: so many samples of each; by default one, without a dimension
  std::optional<int64_t> seed = {};
};
// 1, or true, with these probabilities: [sample_shape..., probabilities...].
WEIR_API Output bernoulli_sample(const Output& probabilities, const SampleOptions& options = {});
// A class for each row of logits [..., classes].
WEIR_API Output categorical_sample(const Output& logits, const SampleOptions& options = {});

// Of each sequence whether it is to go on with a sample: `probability` is a scalar or [batch]. Throws InvalidArgument
// for another rank.
WEIR_API Output scheduled_choices(const Output& probability, const Output& batch_size, DType dtype,
                                  std::optional<int64_t> seed);
// Where `sampled` (bool [batch]) the rows that a function gives for their places [n, 1], else those of `others`.
using RowsAt = std::function<Output(const Output& places)>;
WEIR_API Output mixed_rows(const Output& sampled, const Output& others, const RowsAt& rows);

struct ScheduledEmbeddingOptions {
  bool time_major = false;
  std::optional<int64_t> seed = {}, scheduling_seed = {};  // of the classes, and of when they are drawn
};
// The right inputs, but sometimes the embedded class that was drawn last (Bengio et al., 2015). Samples are -1 where
// none was drawn.
class WEIR_API ScheduledEmbeddingTrainingHelper : public TrainingHelper {
 public:
  ScheduledEmbeddingTrainingHelper(const Output& inputs, const Output& lengths, Embedding embedding,
                                   const Output& sampling_probability, const ScheduledEmbeddingOptions& options = {});
  Output sample(const Output& time, const Output& outputs) override;
  Next next_inputs(const Output& time, const Output& outputs, const Output& sample_ids) override;

 private:
  Embedding embedding_;
  Output probability_;
  ScheduledEmbeddingOptions options_;
};

struct ScheduledOutputOptions {
  bool time_major = false;
  std::optional<int64_t> seed = {};
  std::function<Output(const Output& outputs)> next_inputs = {};  // by default the outputs themselves
  Output auxiliary_inputs = {};                                   // beside the inputs of every step
};
// The right inputs, but sometimes the last outputs, or what a function makes of them. Samples are 1 there.
class WEIR_API ScheduledOutputTrainingHelper : public TrainingHelper {
 public:
  ScheduledOutputTrainingHelper(const Output& inputs, const Output& lengths, const Output& sampling_probability,
                                const ScheduledOutputOptions& options = {});
  ~ScheduledOutputTrainingHelper() override;
  Output sample(const Output& time, const Output& outputs) override;
  Next next_inputs(const Output& time, const Output& outputs, const Output& sample_ids) override;

 private:
  struct Auxiliary;
  Output with_auxiliary(const Output& outputs, const Output& time, const Output& places = {}) const;
  Output probability_;
  ScheduledOutputOptions options_;
  std::unique_ptr<Auxiliary> auxiliary_;
};

// Inputs that functions make of the outputs.
struct Inference {
  std::function<Output(const Output& outputs)> sample;
  Shape sample_size = {};  // without the batch
  DType sample_type = int32;
  Output start_inputs;
  std::function<Output(const Output& samples)> ended;             // bool [batch]
  std::function<Output(const Output& samples)> next_inputs = {};  // by default the samples themselves
};
class WEIR_API InferenceHelper : public Helper {
 public:
  explicit InferenceHelper(Inference inference) : inference_(std::move(inference)) {}
  Next initialize() override;
  Output sample(const Output& time, const Output& outputs) override;
  Next next_inputs(const Output& time, const Output& outputs, const Output& sample_ids) override;
  Shape sample_size() const override { return inference_.sample_size; }
  DType sample_type() const override { return inference_.sample_type; }

 private:
  Inference inference_;
};

}  // namespace weir::seq2seq
