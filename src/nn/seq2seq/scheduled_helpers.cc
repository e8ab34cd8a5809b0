#include "base/errors.h"
#include "nn/convert.h"
#include "nn/rnn/loops.h"
#include "weir/control_flow.h"
#include "weir/ops.h"
#include "weir/seq2seq_helpers.h"
#include "weir/tensor_array.h"

// Samples, and the helpers that go on with them.
namespace weir::seq2seq {
namespace {

Output sizes_of(Graph& graph, const SampleOptions& options) {
  if (!options.sample_shape) return graph.constant(Tensor(std::vector<int32_t>{}));
  return reshape(nn::as_output(graph, *options.sample_shape, int32, "sample_shape"), {-1});
}

// A truth value for each sequence.
Output flags(const Output& samples) { return cast(samples, boolean); }

}  // namespace

Output bernoulli_sample(const Output& probabilities, const SampleOptions& options) {
  Graph& graph = probabilities.graph();
  const Output sizes = concat({sizes_of(graph, options), shape(probabilities)}, 0);
  const Output uniform = random_uniform(graph, sizes, {.dtype = probabilities.dtype(), .seed = options.seed});
  return cast(less(uniform, probabilities), options.dtype);
}

Output categorical_sample(const Output& logits, const SampleOptions& options) {
  Graph& graph = logits.graph();
  const Output batch = subscript(shape(logits), {until(-1)});
  const bool matrix = logits.shape().has_rank() && logits.shape().rank() == 2;
  const Output flat = matrix ? logits : reshape(logits, stack({In(-1), In(subscript(shape(logits), {-1}))}, 0));
  const Output wanted = sizes_of(graph, options);
  const Output draws = transpose(multinomial(flat, reduce_prod(wanted), {.seed = options.seed, .output_dtype = int32}));
  return cast(reshape(draws, concat({wanted, batch}, 0)), options.dtype);
}

Output scheduled_choices(const Output& probability, const Output& batch_size, DType dtype,
                         std::optional<int64_t> seed) {
  const Shape& given = probability.shape();
  if (!given.has_rank() || given.rank() > 1) {
    throw invalid_argument("sampling_probability must be either a scalar or a vector. saw shape: {}", given.str());
  }
  SampleOptions options{.dtype = dtype, .seed = seed};
  if (given.rank() == 0) options.sample_shape = In(reshape(batch_size, {1}));
  return bernoulli_sample(probability, options);
}

Output mixed_rows(const Output& sampled, const Output& others, const RowsAt& rows) {
  const Output places = cast(where(sampled), int32);
  const Output rest = cast(where(logical_not(sampled)), int32);
  const Output left = gather_nd(others, rest), taken = rows(places);
  const Output sizes = shape(others);
  const Output those_taken = scatter_nd(places, taken, sizes);
  Output result = those_taken + scatter_nd(rest, left, sizes);
  result.set_shape(others.shape());
  return result;
}

// ---- Embedded classes.

ScheduledEmbeddingTrainingHelper::ScheduledEmbeddingTrainingHelper(const Output& inputs, const Output& lengths,
                                                                   Embedding embedding,
                                                                   const Output& sampling_probability,
                                                                   const ScheduledEmbeddingOptions& options)
    : TrainingHelper(inputs, lengths, options.time_major),
      embedding_(std::move(embedding)),
      probability_(sampling_probability),
      options_(options) {}

Output ScheduledEmbeddingTrainingHelper::sample(const Output&, const Output& outputs) {
  const Output batch = size(lengths());
  const Output chosen = scheduled_choices(probability_, batch, boolean, options_.scheduling_seed);
  const Output drawn = categorical_sample(outputs, {.seed = options_.seed});
  return where(chosen, drawn, fill(reshape(batch, {1}), -1));
}

Helper::Next ScheduledEmbeddingTrainingHelper::next_inputs(const Output& time, const Output& outputs,
                                                           const Output& sample_ids) {
  const Next given = TrainingHelper::next_inputs(time, outputs, sample_ids);
  const Output inputs = cond(
      reduce_all(given.finished), [&] { return identity(given.inputs); },
      [&] {
        return mixed_rows(greater(sample_ids, -1), given.inputs,
                          [&](const Output& places) { return embedding_(gather_nd(sample_ids, places)); });
      });
  return {given.finished, inputs};
}

// ---- Outputs.

struct ScheduledOutputTrainingHelper::Auxiliary {
  TensorArray steps;
};

ScheduledOutputTrainingHelper::ScheduledOutputTrainingHelper(const Output& inputs, const Output& lengths,
                                                             const Output& sampling_probability,
                                                             const ScheduledOutputOptions& options)
    : TrainingHelper(options.auxiliary_inputs ? concat({inputs, options.auxiliary_inputs}, -1) : inputs, lengths,
                     options.time_major),
      probability_(sampling_probability),
      options_(options) {
  if (!options.auxiliary_inputs) return;
  const Output& beside = options.auxiliary_inputs;
  auxiliary_ = std::make_unique<Auxiliary>(
      Auxiliary{TensorArray::of_rows(options.time_major ? beside : rnn::transpose_batch_time(beside))});
}

ScheduledOutputTrainingHelper::~ScheduledOutputTrainingHelper() = default;

Output ScheduledOutputTrainingHelper::sample(const Output&, const Output&) {
  return scheduled_choices(probability_, size(lengths()), int32, options_.seed);
}

Output ScheduledOutputTrainingHelper::with_auxiliary(const Output& outputs, const Output& time,
                                                     const Output& places) const {
  if (!auxiliary_) return outputs;
  const Output beside = auxiliary_->steps.read(time + 1);
  return concat({outputs, places ? gather_nd(beside, places) : beside}, -1);
}

Helper::Next ScheduledOutputTrainingHelper::next_inputs(const Output& time, const Output& outputs,
                                                        const Output& sample_ids) {
  const Next given = TrainingHelper::next_inputs(time, outputs, sample_ids);
  const Output sampled = flags(sample_ids);
  const Output nothing = logical_or(reduce_all(given.finished), logical_not(reduce_any(sampled)));
  const Output inputs = cond(
      nothing, [&] { return identity(given.inputs); },
      [&] {
        if (!options_.next_inputs) return where(sampled, with_auxiliary(outputs, time), given.inputs);
        return mixed_rows(sampled, given.inputs, [&](const Output& places) {
          return with_auxiliary(options_.next_inputs(gather_nd(outputs, places)), time, places);
        });
      });
  return {given.finished, inputs};
}

// ---- Functions.

Helper::Next InferenceHelper::initialize() {
  const Output& start = inference_.start_inputs;
  const Output batch = slice(shape(start), {0}, {1});
  return {fill(batch, start.graph().constant(Tensor(false))), start};
}

Output InferenceHelper::sample(const Output&, const Output& outputs) { return inference_.sample(outputs); }

Helper::Next InferenceHelper::next_inputs(const Output&, const Output&, const Output& sample_ids) {
  const Output inputs = inference_.next_inputs ? inference_.next_inputs(sample_ids) : sample_ids;
  return {inference_.ended(sample_ids), inputs};
}

}  // namespace weir::seq2seq
