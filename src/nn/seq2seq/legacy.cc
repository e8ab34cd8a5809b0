#include "base/errors.h"
#include "weir/embedding.h"
#include "weir/legacy_seq2seq.h"
#include "weir/ops.h"
#include "weir/rnn_cells.h"

namespace weir::seq2seq {
namespace {

Graph& graph_of(const std::vector<Output>& list) {
  if (list.empty()) throw invalid_argument("a sequence must have at least one step");
  return list[0].graph();
}

// The input of step i: the one given, or what the loop function makes of the output before.
Output next_input(const LoopFunction& loop, const Output& previous, int i, const Output& given) {
  if (!loop || !previous) return given;
  auto scope = given.graph().variable_scope("loop_function", {.reuse = true});
  return loop(previous, i);
}

// args [batch, ...] side by side times "kernel", plus "bias".
Output linear(const std::vector<Output>& args, int64_t size) {
  Graph& graph = args[0].graph();
  int64_t depth = 0;
  for (const Output& arg : args) {
    if (arg.shape().rank() != 2 || arg.shape()[1] == kUnknown) {
      throw invalid_argument("linear is expecting 2D arguments of known depth: {}", arg.shape().str());
    }
    depth += arg.shape()[1];
  }
  const Variable kernel = graph.get_variable("kernel", {depth, size});
  const Variable bias = graph.get_variable("bias", {size}, {.initializer = constant_initializer(0)});
  return nn::bias_add(matmul(args.size() == 1 ? args[0] : concat(args, 1), kernel), bias);
}

LoopFunction argmax_and_embed(const Variable& embedding, const std::optional<std::pair<Output, Output>>& projection) {
  return [=](const Output& previous, int) {
    const Output logits = projection ? matmul(previous, projection->first) + projection->second : previous;
    return nn::embedding_lookup({embedding}, argmax(logits, 1));
  };
}

struct Embedded {
  std::vector<Output> inputs;
  LoopFunction loop;
};
Embedded embedded(const std::vector<Output>& inputs, const EmbeddingSeq2seqOptions& options) {
  Graph& graph = graph_of(inputs);
  const Variable embedding = graph.get_variable("embedding", {options.num_decoder_symbols, options.embedding_size});
  Embedded result;
  if (options.feed_previous) result.loop = argmax_and_embed(embedding, options.output_projection);
  for (const Output& step : inputs) result.inputs.push_back(nn::embedding_lookup({embedding}, step));
  return result;
}

rnn::Unrolled encoded(const std::vector<Output>& inputs, const rnn::CellPtr& encoder,
                      const EmbeddingSeq2seqOptions& options) {
  auto cell = std::make_shared<rnn::EmbeddingWrapper>(encoder, options.num_encoder_symbols, options.embedding_size);
  return rnn::static_rnn(cell, inputs);
}

rnn::CellPtr projected(const rnn::CellPtr& decoder, const EmbeddingSeq2seqOptions& options) {
  if (options.output_projection) return decoder;
  return std::make_shared<rnn::OutputProjectionWrapper>(decoder, options.num_decoder_symbols);
}

std::string_view or_else(std::string_view scope, std::string_view usual) { return scope.empty() ? usual : scope; }

}  // namespace

rnn::Unrolled rnn_decoder(const std::vector<Output>& inputs, const rnn::State& initial_state, const rnn::CellPtr& cell,
                          const LoopFunction& loop, std::string_view scope_name) {
  auto scope = graph_of(inputs).variable_scope(scope_name);
  rnn::Unrolled result{{}, initial_state};
  Output previous;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Output input = next_input(loop, previous, static_cast<int>(i), inputs[i]);
    if (i > 0) scope.reuse_variables();
    rnn::Step step = (*cell)(input, result.state);
    previous = step.output;
    result.outputs.push_back(step.output);
    result.state = std::move(step.state);
  }
  return result;
}

rnn::Unrolled basic_rnn_seq2seq(const std::vector<Output>& encoder_inputs, const std::vector<Output>& decoder_inputs,
                                const rnn::CellPtr& encoder, const rnn::CellPtr& decoder, std::string_view scope_name) {
  auto scope = graph_of(encoder_inputs).variable_scope(scope_name);
  return rnn_decoder(decoder_inputs, rnn::static_rnn(encoder, encoder_inputs).state, decoder);
}

rnn::Unrolled embedding_rnn_seq2seq(const std::vector<Output>& encoder_inputs,
                                    const std::vector<Output>& decoder_inputs, const rnn::CellPtr& encoder,
                                    const rnn::CellPtr& decoder, const EmbeddingSeq2seqOptions& options) {
  Graph& graph = graph_of(encoder_inputs);
  auto scope = graph.variable_scope(or_else(options.scope, "embedding_rnn_seq2seq"));
  const rnn::State state = encoded(encoder_inputs, encoder, options).state;
  const rnn::CellPtr cell = projected(decoder, options);
  auto inner = graph.variable_scope("embedding_rnn_decoder");
  const Embedded steps = embedded(decoder_inputs, options);
  return rnn_decoder(steps.inputs, state, cell, steps.loop);
}

rnn::Unrolled attention_decoder(const std::vector<Output>& inputs, const rnn::State& initial_state,
                                const Output& attention_states, const rnn::CellPtr& cell,
                                const AttentionDecoderOptions& options) {
  const Shape& seen = attention_states.shape();
  if (inputs.empty()) throw invalid_argument("Must provide at least 1 input to attention decoder.");
  if (options.num_heads < 1) throw invalid_argument("With less than 1 heads, use a non-attention decoder.");
  if (seen.rank() != 3 || seen[2] == kUnknown) {
    throw invalid_argument("Shape[2] of attention_states must be known: {}", seen.str());
  }
  Graph& graph = attention_states.graph();
  auto scope = graph.variable_scope(options.scope);
  const int64_t size = seen[2];
  const int64_t output_size = options.output_size > 0 ? options.output_size : cell->output_size()[0];
  const Output length = subscript(shape(attention_states), {1});
  const Output hidden = reshape(attention_states, stack({In(-1), In(length), In(1), In(size)}, 0));
  std::vector<Output> features, vectors;
  for (int head = 0; head < options.num_heads; ++head) {
    const std::string number = std::to_string(head);
    features.push_back(nn::conv2d(hidden, graph.get_variable("AttnW_" + number, {1, 1, size, size}),
                                  {.strides = {1, 1, 1, 1}, .padding = "SAME"}));
    vectors.push_back(graph.get_variable("AttnV_" + number, {size}));
  }
  auto attention = [&](const rnn::State& state) {
    const Output query = state.size() == 1 ? state[0] : concat(state, 1);
    std::vector<Output> looks;
    for (int head = 0; head < options.num_heads; ++head) {
      auto own = graph.variable_scope("Attention_" + std::to_string(head));
      const Output y = reshape(linear({query}, size), {-1, 1, 1, size});
      const auto at = static_cast<size_t>(head);
      const Output scores = reduce_sum(vectors[at] * tanh(features[at] + y), {2, 3});
      const Output weights = reshape(nn::softmax(scores), stack({In(-1), In(length), In(1), In(1)}, 0));
      looks.push_back(reshape(reduce_sum(weights * hidden, {1, 2}), {-1, size}));
    }
    return looks;
  };
  const Output batch = subscript(shape(inputs[0]), {0});
  std::vector<Output> looks(static_cast<size_t>(options.num_heads));
  for (Output& look : looks) look = rnn::zeros_for_batch(graph, batch, {size}, attention_states.dtype());
  if (options.initial_state_attention) looks = attention(initial_state);
  rnn::Unrolled result{{}, initial_state};
  Output previous;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) scope.reuse_variables();
    const Output input = next_input(options.loop, previous, static_cast<int>(i), inputs[i]);
    std::vector<Output> beside{input};
    beside.insert(beside.end(), looks.begin(), looks.end());
    rnn::Step step = (*cell)(linear(beside, input.shape()[1]), result.state);
    result.state = std::move(step.state);
    {
      VariableScopeOptions again;
      if (i == 0 && options.initial_state_attention) again.reuse = true;
      auto same = variable_scope(graph, scope, again);
      looks = attention(result.state);
    }
    auto projection = graph.variable_scope("AttnOutputProjection");
    beside = {step.output};
    beside.insert(beside.end(), looks.begin(), looks.end());
    const Output output = linear(beside, output_size);
    if (options.loop) previous = output;
    result.outputs.push_back(output);
  }
  return result;
}

rnn::Unrolled embedding_attention_seq2seq(const std::vector<Output>& encoder_inputs,
                                          const std::vector<Output>& decoder_inputs, const rnn::CellPtr& encoder,
                                          const rnn::CellPtr& decoder, const EmbeddingSeq2seqOptions& options) {
  Graph& graph = graph_of(encoder_inputs);
  auto scope = graph.variable_scope(or_else(options.scope, "embedding_attention_seq2seq"));
  const rnn::Unrolled sequence = encoded(encoder_inputs, encoder, options);
  const int64_t size = encoder->output_size()[0];
  std::vector<Output> steps;
  for (const Output& output : sequence.outputs) steps.push_back(reshape(output, {-1, 1, size}));
  const Output attention_states = concat(steps, 1);
  const rnn::CellPtr cell = projected(decoder, options);
  auto inner = graph.variable_scope("embedding_attention_decoder");
  const Embedded inputs = embedded(decoder_inputs, options);
  return attention_decoder(inputs.inputs, sequence.state, attention_states, cell,
                           {.output_size = options.output_projection ? 0 : options.num_decoder_symbols,
                            .num_heads = options.num_heads,
                            .loop = inputs.loop,
                            .initial_state_attention = options.initial_state_attention});
}

Output sequence_loss_by_example(const std::vector<Output>& logits, const std::vector<Output>& targets,
                                const std::vector<Output>& weights, const ListLossOptions& options,
                                std::string_view name) {
  if (logits.size() != targets.size() || logits.size() != weights.size()) {
    throw invalid_argument("Lengths of logits, weights, and targets must be the same {}, {}, {}.", logits.size(),
                           weights.size(), targets.size());
  }
  Scope scope = graph_of(logits).name_scope(or_else(name, "sequence_loss_by_example"));
  std::vector<Output> losses;
  for (size_t i = 0; i < logits.size(); ++i) {
    const Output loss = options.softmax_loss
                            ? options.softmax_loss(targets[i], logits[i])
                            : nn::sparse_softmax_cross_entropy_with_logits(reshape(targets[i], {-1}), logits[i]);
    losses.push_back(loss * weights[i]);
  }
  Output total = add_n(losses);
  if (options.average_across_timesteps) {
    total = total / (add_n(weights) + 1e-12f);  // an example may have no weight at all
  }
  return total;
}

Output sequence_loss(const std::vector<Output>& logits, const std::vector<Output>& targets,
                     const std::vector<Output>& weights, const ListLossOptions& options, std::string_view name) {
  Scope scope = graph_of(logits).name_scope(or_else(name, "sequence_loss"));
  const Output cost = reduce_sum(sequence_loss_by_example(logits, targets, weights, options));
  if (!options.average_across_batch) return cost;
  return cost / cast(subscript(shape(targets[0]), {0}), cost.dtype());
}

}  // namespace weir::seq2seq
