#include "weir/crf.h"

#include <limits>

#include "base/errors.h"
#include "nn/convert.h"
#include "nn/rnn/loops.h"
#include "weir/control_flow.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/variable_scope.h"

namespace weir::crf {
namespace {

Output size_of(const Output& x, int axis, DType dtype = int32) { return subscript(shape(x, dtype), {axis}); }

// Sequences of one step have no neighbours: what is built for them, for longer ones, or for what the run brings.
std::vector<Output> by_length(const Output& inputs, const std::function<std::vector<Output>()>& single,
                              const std::function<std::vector<Output>()>& several) {
  const Shape& known = inputs.shape();
  if (known.has_rank() && known[1] != kUnknown) return known[1] == 1 ? single() : several();
  return cond(equal(size_of(inputs, 1), 1), single, several);
}

void require_steps(const Output& inputs) {
  const Shape& known = inputs.shape();
  if (known.has_rank() && known.rank() != 3) {
    throw invalid_argument("inputs must be [batch_size, max_seq_len, num_tags]: {}", known.str());
  }
}

int64_t tag_count(const Output& inputs) {
  if (!inputs.shape().has_rank() || inputs.shape()[-1] == kUnknown) {
    throw invalid_argument("the number of tags must be known: {}", inputs.shape().str());
  }
  return inputs.shape()[-1];
}

// Zero for sequences without steps.
Output of_nonempty(const Output& x, const Output& lengths) {
  return where(less_equal(lengths, zeros_like(lengths)), zeros_like(x), x);
}

Output first_step(const Output& inputs) { return squeeze(slice(inputs, {0, 0, 0}, {-1, 1, -1}), {1}); }
Output later_steps(const Output& inputs) { return slice(inputs, {0, 1, 0}, {-1, -1, -1}); }
Output less_one(const Output& lengths) { return maximum(zeros_like(lengths), lengths - ones_like(lengths)); }

// Runs a recursion over steps [batch, time, size]: outputs [batch, time, ...] and the last state.
rnn::FlatStep along(const Output& steps, const Output& state, const Output& lengths, int64_t output_size, DType dtype,
                    const std::function<std::pair<Output, Output>(const Output&, const Output&)>& step) {
  auto scope = steps.graph().variable_scope("rnn");
  const Output time_major = rnn::transpose_batch_time(steps);
  const In batch_size = rnn::batch_size_of({time_major});
  rnn::FlatStep result =
      rnn::dynamic_loop({.cell = [&](const std::vector<Output>& x, const std::vector<Output>& now) -> rnn::FlatStep {
                           auto [output, next] = step(x[0], now[0]);
                           return {{output}, {next}};
                         },
                         .inputs = {time_major},
                         .state = {state},
                         .output_sizes = {Shape{output_size}},
                         .dtype = dtype,
                         .batch_size = batch_size,
                         .lengths = rnn::checked_lengths(lengths, batch_size),
                         .options = {.parallel_iterations = 32}});
  result.outputs[0] = rnn::transpose_batch_time(result.outputs[0]);
  return result;
}

Output reversed(const Output& x, const Output& lengths) {
  return NodeBuilder("ReverseSequence").input(x).input(lengths).attr("seq_dim", int64_t{1}).output();
}

}  // namespace

Output unary_score(const Output& tags, const Output& lengths, const Output& inputs) {
  Graph& graph = inputs.graph();
  const Output batch = size_of(inputs, 0), time = size_of(inputs, 1), count = size_of(inputs, 2);
  const Output rows = expand_dims(range(graph, 0, batch) * time * count, 1);
  const Output places = cast(rows + expand_dims(range(graph, 0, time) * count, 0), tags.dtype());
  const Output scores = reshape(gather(reshape(inputs, {-1}), reshape(places + tags, {-1})), stack({batch, time}, 0));
  return reduce_sum(scores * sequence_mask(lengths, In(size_of(tags, 1)), inputs.dtype()), {1});
}

Output binary_score(const Output& tags, const Output& lengths, const Output& transitions) {
  const Output count = size_of(transitions, 0, tags.dtype());
  const Output steps = size_of(tags, 1) - 1;
  const Output sizes = stack({In(-1), In(steps)}, 0);
  const Output places = slice(tags, {0, 0}, sizes) * count + slice(tags, {0, 1}, sizes);
  const Output scores = gather(reshape(transitions, {-1}), places);
  const Output mask = sequence_mask(lengths, In(size_of(tags, 1)), transitions.dtype());
  return reduce_sum(scores * slice(mask, {0, 1}, {-1, -1}), {1});
}

Output sequence_score(const Output& inputs, const Output& tags, const Output& lengths, const Output& transitions) {
  require_steps(inputs);
  return by_length(
      inputs,
      [&] {
        const Output rows = reshape(range(inputs.graph(), 0, size_of(inputs, 0)), {-1, 1});
        const Output places = concat({cast(rows, tags.dtype()), tags}, 1);
        return std::vector{of_nonempty(gather_nd(squeeze(inputs, {1}), places), lengths)};
      },
      [&] {
        const Output single = unary_score(tags, lengths, inputs);
        return std::vector{single + binary_score(tags, lengths, transitions)};
      })[0];
}

Output log_norm(const Output& inputs, const Output& lengths, const Output& transitions) {
  require_steps(inputs);
  const Output first = first_step(inputs);
  return by_length(
      inputs, [&] { return std::vector{of_nonempty(reduce_logsumexp(first, {.axes = {1}}), lengths)}; },
      [&] {
        const Output wide = expand_dims(transitions, 0);
        const rnn::FlatStep last = along(later_steps(inputs), first, less_one(lengths), tag_count(inputs),
                                         inputs.dtype(), [&](const Output& x, const Output& alphas) {
                                           const Output next =
                                               x + reduce_logsumexp(expand_dims(alphas, 2) + wide, {.axes = {1}});
                                           return std::pair(next, next);
                                         });
        return std::vector{of_nonempty(reduce_logsumexp(last.state[0], {.axes = {1}}), lengths)};
      })[0];
}

Output multitag_sequence_score(const Output& inputs, const Output& bitmap, const Output& lengths,
                               const Output& transitions) {
  const Output never = fill(shape(inputs), -std::numeric_limits<float>::infinity());
  const Output allowed = where(bitmap, inputs, never);
  return by_length(
      inputs,
      [&] {
        return std::vector{reduce_logsumexp(allowed, {.axes = {1, 2}})};
      },
      [&] { return std::vector{log_norm(allowed, lengths, transitions)}; })[0];
}

LogLikelihood log_likelihood(const Output& inputs, const Output& tags, const Output& lengths,
                             const Output& transitions) {
  Output params = transitions;
  if (!params) {
    const int64_t count = tag_count(inputs);
    params = inputs.graph().get_variable("transitions", {count, count});
  }
  const Output score = sequence_score(inputs, tags, lengths, params);
  return {score - log_norm(inputs, lengths, params), params};
}

Decoding decode(const Output& inputs, const Output& transitions, const Output& lengths) {
  require_steps(inputs);
  std::vector<Output> best = by_length(
      inputs,
      [&] {
        const Output scores = squeeze(inputs, {1});
        const Output tags = expand_dims(argmax(scores, 1), 1);
        return std::vector{cast(tags, int32), reduce_max(scores, {1})};
      },
      [&] {
        const Output wide = expand_dims(transitions, 0), fewer = less_one(lengths);
        const rnn::FlatStep forward = along(later_steps(inputs), first_step(inputs), fewer, tag_count(inputs), int32,
                                            [&](const Output& x, const Output& scores) {
                                              const Output all = expand_dims(scores, 2) + wide;
                                              const Output next = x + reduce_max(all, {1});
                                              return std::pair(cast(argmax(all, 1), int32), next);
                                            });
        const Output pointers = reversed(forward.outputs[0], fewer);
        const Output last = expand_dims(cast(argmax(forward.state[0], 1), int32), -1);
        const rnn::FlatStep backward = along(pointers, last, fewer, 1, int32, [](const Output& x, const Output& tag) {
          const Output rows = range(x.graph(), 0, size_of(x, 0));
          const Output before = expand_dims(gather_nd(x, stack({rows, squeeze(tag, {1})}, 1)), -1);
          return std::pair(before, before);
        });
        const Output tags = concat({last, squeeze(backward.outputs[0], {2})}, 1);
        return std::vector{reversed(tags, lengths), reduce_max(forward.state[0], {1})};
      });
  return {best[0], best[1]};
}

}  // namespace weir::crf
