#include "base/errors.h"
#include "nn/convert.h"
#include "nn/rnn/loops.h"
#include "nn/seq2seq/decode_loop.h"
#include "weir/control_flow.h"
#include "weir/ops.h"
#include "weir/seq2seq_helpers.h"
#include "weir/tensor_array.h"

namespace weir::seq2seq {

Decoded dynamic_decode(Decoder& decoder, const DecodeOptions& options) {
  // The scope needs the graph, which the decoder knows from its first tensors.
  DecoderStart start = decoder.initialize();
  Graph& graph = start.finished.graph();
  auto scope = graph.variable_scope(options.scope, {.unique = true});
  FlatDecoder flat{.step =
                       [&](const Output& time, const std::vector<Output>& inputs, const std::vector<Output>& state) {
                         DecoderStep step = decoder.step(time, inputs[0], state);
                         return FlatDecoderStep{step.outputs, step.state, {step.inputs}, step.finished};
                       },
                   .finished = start.finished,
                   .inputs = {start.inputs},
                   .state = start.state,
                   .zero_outputs = {},
                   .output_types = decoder.output_types(),
                   .element_shapes = {},
                   .tracks_own_finished = decoder.tracks_own_finished(),
                   .impute_finished = options.impute_finished,
                   .maximum_iterations = options.maximum_iterations};
  const std::vector<Shape> sizes = decoder.output_sizes();
  const Output batch_size = subscript(shape(start.finished), {0});
  const int64_t batch = start.finished.shape().has_rank() ? start.finished.shape()[0] : kUnknown;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Shape element{batch};
    for (int64_t size : sizes[i].dims()) element.append(size);
    flat.element_shapes.push_back(element);
    if (options.impute_finished) {
      flat.zero_outputs.push_back(rnn::zeros_for_batch(graph, batch_size, sizes[i], flat.output_types[i]));
    }
  }
  FlatDecoded done = decode_loop(flat);
  std::vector<Output> outputs = decoder.finalize(done.outputs, done.state);
  if (!options.output_time_major) {
    for (Output& output : outputs) output = rnn::transpose_batch_time(output);
  }
  return {std::move(outputs), std::move(done.state), done.lengths};
}

// ---- Helpers.

struct TrainingHelper::Impl {
  TensorArray steps;
  Output lengths, zero_inputs;

  // The inputs of a step, or zeros when all sequences have ended: there is nothing to read then.
  Output at(const Output& time, const Output& all_finished) const {
    return cond(
        all_finished, [&] { return zero_inputs; }, [&] { return steps.read(time); });
  }
};

TrainingHelper::TrainingHelper(const Output& inputs, const Output& lengths, bool time_major) {
  if (lengths.shape().has_rank() && lengths.shape().rank() != 1) {
    throw invalid_argument("Expected sequence_length to be a vector, but received shape: {}", lengths.shape().str());
  }
  const Output steps = time_major ? inputs : rnn::transpose_batch_time(inputs);
  impl_ =
      std::make_unique<Impl>(Impl{TensorArray::of_rows(steps), lengths, zeros_like(subscript(steps, {0, kEllipsis}))});
}

TrainingHelper::~TrainingHelper() = default;

const Output& TrainingHelper::lengths() const { return impl_->lengths; }

Helper::Next TrainingHelper::initialize() {
  const Output finished = equal(zeros_like(impl_->lengths), impl_->lengths);
  const Output start = impl_->lengths.graph().constant(Tensor(int32_t{0}));
  return {finished, impl_->at(start, reduce_all(finished))};
}

Output TrainingHelper::sample(const Output&, const Output& outputs) { return cast(argmax(outputs, -1), int32); }

Helper::Next TrainingHelper::next_inputs(const Output& time, const Output&, const Output&) {
  const Output next = time + 1;
  const Output finished = greater_equal(next, impl_->lengths);
  return {finished, impl_->at(next, reduce_all(finished))};
}

GreedyEmbeddingHelper::GreedyEmbeddingHelper(Embedding embedding, const In& start_tokens, const In& end_token,
                                             Graph& graph)
    : embedding_(std::move(embedding)),
      start_tokens_(nn::as_output(graph, start_tokens, int32, "start_tokens")),
      end_token_(nn::as_output(graph, end_token, int32, "end_token")) {
  if (start_tokens_.shape().rank() != 1) throw invalid_argument("start_tokens must be a vector");
  if (!end_token_.shape().is_scalar()) throw invalid_argument("end_token must be a scalar");
  start_inputs_ = embedding_(start_tokens_);
}

Helper::Next GreedyEmbeddingHelper::initialize() {
  const Output none = start_tokens_.graph().constant(Tensor(false));
  return {fill(shape(start_tokens_), none), start_inputs_};
}

Output GreedyEmbeddingHelper::sample(const Output&, const Output& outputs) { return argmax(outputs, -1, int32); }

Helper::Next GreedyEmbeddingHelper::next_inputs(const Output&, const Output&, const Output& sample_ids) {
  const Output finished = equal(sample_ids, end_token_);
  const Output inputs = cond(
      reduce_all(finished), [&] { return start_inputs_; }, [&] { return embedding_(sample_ids); });
  return {finished, inputs};
}

SampleEmbeddingHelper::SampleEmbeddingHelper(Embedding embedding, const In& start_tokens, const In& end_token,
                                             Graph& graph, std::optional<float> softmax_temperature,
                                             std::optional<int64_t> seed)
    : GreedyEmbeddingHelper(std::move(embedding), start_tokens, end_token, graph),
      temperature_(softmax_temperature),
      seed_(seed) {}

Output SampleEmbeddingHelper::sample(const Output&, const Output& outputs) {
  const Output logits = temperature_ ? outputs / *temperature_ : outputs;
  return categorical_sample(logits, {.seed = seed_});
}

// ---- BasicDecoder.

OutputLayer dense_layer(int64_t units, bool use_bias, const std::string& name) {
  struct Weights {
    Variable kernel, bias;
  };
  auto weights = std::make_shared<Weights>();
  return {units, [=](const Output& x) {
            Graph& graph = x.graph();
            if (!weights->kernel) {
              auto scope = graph.variable_scope(name);
              weights->kernel = graph.get_variable("kernel", {x.shape()[-1], units}, {.dtype = x.dtype()});
              if (use_bias) weights->bias = graph.get_variable("bias", {units}, {.initializer = zeros_initializer()});
            }
            if (x.shape().rank() == 2) {
              Output y = matmul(x, weights->kernel);
              return use_bias ? nn::bias_add(y, weights->bias) : y;
            }
            const Output flat = matmul(reshape(x, {-1, x.shape()[-1]}), weights->kernel);
            const Output y = use_bias ? nn::bias_add(flat, weights->bias) : flat;
            const int rank = x.shape().rank();
            const Output sizes = concat({slice(shape(x), {0}, {rank - 1}), graph.constant({units}, int32)}, 0);
            Output result = reshape(y, sizes);
            Shape known = x.shape();
            known.set_dim(rank - 1, units);
            result.set_shape(known);
            return result;
          }};
}

BasicDecoder::BasicDecoder(rnn::CellPtr cell, Helper& helper, rnn::State initial_state, OutputLayer output_layer)
    : cell_(std::move(cell)),
      helper_(helper),
      initial_state_(std::move(initial_state)),
      output_layer_(std::move(output_layer)) {
  if (initial_state_.empty()) throw invalid_argument("a decoder needs an initial state");
}

std::vector<Shape> BasicDecoder::output_sizes() const {
  return {output_layer_ ? Shape{output_layer_.units} : cell_->output_size(), helper_.sample_size()};
}

std::vector<DType> BasicDecoder::output_types() const { return {initial_state_[0].dtype(), helper_.sample_type()}; }

DecoderStart BasicDecoder::initialize() {
  const Helper::Next first = helper_.initialize();
  return {first.finished, first.inputs, initial_state_};
}

DecoderStep BasicDecoder::step(const Output& time, const Output& inputs, const rnn::State& state) {
  Scope scope = inputs.graph().name_scope("BasicDecoderStep");
  rnn::Step step = (*cell_)(inputs, state);
  const Output outputs = output_layer_ ? output_layer_.apply(step.output) : step.output;
  const Output sample_ids = helper_.sample(time, outputs);
  const Helper::Next next = helper_.next_inputs(time, outputs, sample_ids);
  return {{outputs, sample_ids}, std::move(step.state), next.inputs, next.finished};
}

}  // namespace weir::seq2seq
