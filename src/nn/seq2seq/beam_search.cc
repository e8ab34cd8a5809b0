#include <limits>

#include "base/errors.h"
#include "nn/convert.h"
#include "weir/control_flow.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/seq2seq.h"
#include "weir/sequence_ops.h"

namespace weir::seq2seq {
namespace {

std::string_view or_else(std::string_view name, std::string_view usual) { return name.empty() ? usual : name; }

Output size_of(const Output& x, int axis) { return subscript(shape(x), {axis}); }

Shape first_dims(const Shape& shape, int count) {
  return shape.has_rank() ? Shape(shape.dims().first(static_cast<size_t>(count))) : Shape::unknown();
}

bool is_zero(const In& value) {
  if (value.output()) return false;
  const Tensor& tensor = value.value();
  return (tensor.dtype() == float32 ? tensor.scalar<float>() : tensor.scalar<double>()) == 0;
}

// Sequences that ended can only go on with their end, at no cost.
Output masked_probs(const Output& probs, const Output& end_token, const Output& finished) {
  const Output vocabulary = size_of(probs, 2);
  const double lowest = probs.dtype() == float64 ? std::numeric_limits<double>::lowest()
                                                 : static_cast<double>(std::numeric_limits<float>::lowest());
  const Output row = one_hot(end_token, vocabulary, {.on_value = 0., .off_value = lowest, .dtype = probs.dtype()});
  const Output rows = tile(reshape(row, {1, 1, -1}), concat({shape(finished), probs.graph().constant({1}, int32)}, 0));
  const Output mask = tile(expand_dims(finished, 2), stack({In(1), In(1), In(vocabulary)}, 0));
  return where(mask, rows, probs);
}

// ((5 + length) / 6) ^ penalty
Output length_penalty(const Output& lengths, const In& weight, Graph& graph) {
  const Output factor = nn::as_output(graph, weight, float32, "penalty_factor");
  return pow(5.f + cast(lengths, float32), factor) / pow(nn::as_output(graph, 6.f, float32, "x"), factor);
}

}  // namespace

Output tile_batch(const Output& t, int64_t multiplier, std::string_view name) {
  const Shape& known = t.shape();
  if (!known.has_rank() || known.rank() < 1) throw invalid_argument("t must have statically known rank");
  Scope scope = t.graph().name_scope(or_else(name, "tile_batch"));
  const Output sizes = shape(t);
  std::vector<int32_t> times(static_cast<size_t>(known.rank()) + 1, 1);
  times[1] = static_cast<int32_t>(multiplier);
  const Output tiled = tile(expand_dims(t, 1), Tensor(times));
  const Output rows = slice(sizes, {0}, {1}) * static_cast<int32_t>(multiplier);
  Output result = reshape(tiled, concat({rows, slice(sizes, {1}, {-1})}, 0));
  Shape shape = known;
  shape.set_dim(0, known[0] == kUnknown ? kUnknown : known[0] * multiplier);
  result.set_shape(shape);
  return result;
}

rnn::State tile_batch(const rnn::State& state, int64_t multiplier, std::string_view name) {
  rnn::State tiled;
  for (const Output& part : state) tiled.push_back(tile_batch(part, multiplier, name));
  return tiled;
}

Output gather_beams(const Output& x, const Output& parents, std::string_view name) {
  Graph& graph = x.graph();
  Scope scope = graph.name_scope(or_else(name, "tensor_gather_helper"));
  const Output batch = size_of(x, 0), beam = size_of(x, 1);
  const Output rest = slice(shape(x), {2}, {-1});
  const Output first = expand_dims(range(graph, 0, batch) * beam, 1);
  const Output rows = reshape(parents + first, {-1});
  const Output flat = reshape(x, concat({expand_dims(batch * beam, 0), rest}, 0));
  Output result = reshape(gather(flat, rows), concat({shape(parents), rest}, 0), "output");
  const Shape& known = x.shape();
  if (known.has_rank() && parents.shape().rank() == 2) {
    Shape gathered = parents.shape();
    for (int i = 2; i < known.rank(); ++i) gathered.append(known[i]);
    result.set_shape(gathered);
  }
  return result;
}

Output gather_tree_from_array(const Output& t, const Output& parent_ids, const Output& sequence_length) {
  Graph& graph = t.graph();
  const Output time = size_of(parent_ids, 0), batch = size_of(parent_ids, 1), beam = size_of(parent_ids, 2);
  const Output own = tile(reshape(range(graph, 0, beam), {1, 1, -1}), stack({In(time), In(batch), In(1)}, 0));
  const Output longest = cast(reduce_max(sequence_length, {1}), int32);
  const Output traced = nn::gather_tree(own, parent_ids, longest, beam + 1);
  const Output inside = transpose(sequence_mask(sequence_length, In(time)), {2, 0, 1});
  const Output beams = where(inside, traced, own);
  const Output times = tile(reshape(range(graph, 0, time), {-1, 1, 1}), stack({In(1), In(batch), In(beam)}, 0));
  const Output batches = tile(reshape(range(graph, 0, batch), {1, -1, 1}), stack({In(time), In(1), In(beam)}, 0));
  const Output indices = stack({times, batches, beams}, -1);
  const Output from = reshape(t, stack({In(time), In(batch), In(beam), In(-1)}, 0));
  return reshape(gather_nd(from, indices), shape(t));
}

BeamStep beam_search_step(const Output& logits, const BeamState& state, const BeamOptions& options) {
  Graph& graph = logits.graph();
  const Output end_token = nn::as_output(graph, options.end_token, int32, "end_token");
  const Output batch = size_of(logits, 0), beam = size_of(logits, 1), vocabulary = size_of(logits, 2);
  const Output not_finished = logical_not(state.finished);
  const Output step_probs = masked_probs(nn::log_softmax(logits), end_token, state.finished);
  const Output total_probs = expand_dims(state.log_probs, 2) + step_probs;

  // Every word but the end makes a sequence longer that has not ended.
  const Output zero = graph.constant(0, int64), one = graph.constant(1, int64);
  const Output ends = fill(stack({In(batch), In(beam)}, 0), end_token);
  const Output word = one_hot(ends, vocabulary, {.on_value = zero, .off_value = one, .dtype = int64});
  const Output lengths = word * expand_dims(cast(not_finished, int64), 2) + expand_dims(state.lengths, 2);

  Output attention, scores = total_probs;
  if (!is_zero(options.length_penalty)) {
    scores = total_probs / cast(length_penalty(lengths, options.length_penalty, graph), total_probs.dtype());
  }
  if (options.attention_probs) {
    attention = state.attention + options.attention_probs * expand_dims(cast(not_finished, float32), 2);
    const Output seen = where(equal(attention, 0.f), ones_like(attention), attention);
    Output coverage = reduce_sum(log(minimum(seen, 1.f)), {2}) * cast(state.finished, float32);
    coverage = coverage * nn::as_output(graph, options.coverage_penalty, float32, "coverage_penalty_weight");
    scores = scores + expand_dims(coverage, 2);
  }
  const nn::TopK best = nn::top_k(reshape(scores, stack({In(batch), In(-1)}, 0)), beam);
  const Shape known = first_dims(logits.shape(), 2);
  best.values.set_shape(known);
  best.indices.set_shape(known);
  const Output flat_probs = reshape(total_probs, stack({In(batch), In(beam * vocabulary)}, 0));
  const Output log_probs = gather_beams(flat_probs, best.indices, "next_beam_probs");
  const Output ids = floormod(best.indices, vocabulary, "next_beam_word_ids");
  const Output parents = floordiv(best.indices, vocabulary, "next_beam_parent_ids");
  const Output finished = gather_beams(state.finished, parents);
  const Output next_finished = logical_or(finished, equal(ids, end_token), "next_beam_finished");
  const Output next_lengths = gather_beams(state.lengths, parents) + cast(logical_not(finished), int64);
  BeamState next{log_probs, next_finished, next_lengths};
  if (attention) next.attention = gather_beams(attention, parents, "next_accumulated_attention_probs");
  return {best.values, ids, parents, next};
}

BeamSearchDecoder::BeamSearchDecoder(rnn::CellPtr cell, Embedding embedding, const Output& start_tokens,
                                     const In& end_token, rnn::State initial_state, int64_t beam_width,
                                     const BeamSearchOptions& options)
    : cell_(std::move(cell)),
      embedding_(std::move(embedding)),
      end_token_(nn::as_output(start_tokens.graph(), end_token, int32, "end_token")),
      initial_state_(std::move(initial_state)),
      beam_width_(beam_width),
      options_(options) {
  if (start_tokens.shape().rank() != 1) throw invalid_argument("start_tokens must be a vector");
  if (beam_width < 1) throw invalid_argument("beam_width must be at least 1: {}", beam_width);
  start_tokens_ = tile(expand_dims(start_tokens, 1), Tensor(std::vector<int32_t>{1, static_cast<int32_t>(beam_width)}));
  start_inputs_ = embedding_(start_tokens_);
}

namespace {

// [batch * beam, ...] from [batch, beam, ...] and back. Scalars stay.
Output merged_beams(const Output& x) {
  if (x.shape().is_scalar()) return x;
  const Shape& known = x.shape();
  const Output sizes = shape(x);
  Output merged = reshape(x, concat({expand_dims(reduce_prod(slice(sizes, {0}, {2})), 0), slice(sizes, {2}, {-1})}, 0));
  Shape result{known[0] == kUnknown || known[1] == kUnknown ? kUnknown : known[0] * known[1]};
  for (int i = 2; i < known.rank(); ++i) result.append(known[i]);
  merged.set_shape(result);
  return merged;
}

Output split_beams(const Output& x, int64_t beam) {
  if (x.shape().is_scalar()) return x;
  const Shape& known = x.shape();
  const Output sizes = shape(x);
  Output result = reshape(x, concat({x.graph().constant({-1, beam}, int32), slice(sizes, {1}, {-1})}, 0));
  Shape split{known[0] == kUnknown ? kUnknown : known[0] / beam, beam};
  for (int i = 1; i < known.rank(); ++i) split.append(known[i]);
  result.set_shape(split);
  return result;
}

}  // namespace

std::vector<Shape> BeamSearchDecoder::output_sizes() const { return {{beam_width_}, {beam_width_}, {beam_width_}}; }

std::vector<DType> BeamSearchDecoder::output_types() const { return {initial_state_[0].dtype(), int32, int32}; }

// The state is that of the cell by beams, then log probabilities, what ended, and lengths.
DecoderStart BeamSearchDecoder::initialize() {
  Graph& graph = start_tokens_.graph();
  const DType dtype = initial_state_[0].dtype();
  rnn::State state;
  for (const Output& part : initial_state_) state.push_back(split_beams(part, beam_width_));
  // All beams begin alike: only the first counts at the beginning.
  const Output first = zeros_like(subscript(start_tokens_, {kAll, 0}));
  const Output finished = one_hot(first, beam_width_, {.on_value = false, .off_value = true, .dtype = boolean});
  state.push_back(one_hot(first, beam_width_,
                          {.on_value = 0., .off_value = -std::numeric_limits<double>::infinity(), .dtype = dtype}));
  state.push_back(finished);
  state.push_back(zeros_like(start_tokens_, int64));
  (void)graph;
  return {finished, start_inputs_, std::move(state)};
}

DecoderStep BeamSearchDecoder::step(const Output&, const Output& inputs, const rnn::State& state) {
  Scope scope = inputs.graph().name_scope("BeamSearchDecoderStep");
  const size_t own = state.size() - 3;
  rnn::State cell_state;
  for (size_t i = 0; i < own; ++i) cell_state.push_back(merged_beams(state[i]));
  const rnn::Step step = (*cell_)(merged_beams(inputs), cell_state);
  Output logits = split_beams(step.output, beam_width_);
  if (options_.output_layer) logits = options_.output_layer.apply(logits);
  const BeamStep beam = beam_search_step(logits, {state[own], state[own + 1], state[own + 2]},
                                         {.end_token = end_token_, .length_penalty = options_.length_penalty_weight});
  rnn::State next;
  for (const Output& part : step.state) {
    next.push_back(part.shape().is_scalar() ? part : gather_beams(split_beams(part, beam_width_), beam.parent_ids));
  }
  next.insert(next.end(), {beam.state.log_probs, beam.state.finished, beam.state.lengths});
  const Output next_inputs = cond(
      reduce_all(beam.state.finished), [&] { return start_inputs_; }, [&] { return embedding_(beam.predicted_ids); });
  return {{beam.scores, beam.predicted_ids, beam.parent_ids}, std::move(next), next_inputs, beam.state.finished};
}

std::vector<Output> BeamSearchDecoder::finalize(const std::vector<Output>& outputs, const rnn::State& state) {
  const Output longest = cast(reduce_max(state.back(), {1}), int32);
  return {nn::gather_tree(outputs[1], outputs[2], longest, end_token_), outputs[0]};
}

}  // namespace weir::seq2seq
