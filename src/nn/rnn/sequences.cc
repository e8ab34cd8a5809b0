#include "base/errors.h"
#include "nn/control_flow.h"
#include "nn/convert.h"
#include "nn/rnn/loops.h"
#include "weir/ops.h"
#include "weir/rnn.h"
#include "weir/tensor_array.h"

// Cells along sequences: tf.nn.dynamic_rnn, tf.nn.static_rnn and those that run both ways.
namespace weir::rnn {
namespace {

FlatCell as_flat(const CellPtr& cell, In::Where where) {
  return [cell, where](const std::vector<Output>& inputs, const std::vector<Output>& state) -> FlatStep {
    Step step = (*cell)(inputs[0], state, where);
    return {{step.output}, std::move(step.state)};
  };
}

// [time, batch, ...] backwards, each sequence from its own end on.
Output reversed(const Output& x, const std::optional<In>& lengths, int time_axis) {
  if (!lengths) return reverse(x, {time_axis});
  return NodeBuilder("ReverseSequence")
      .input(x)
      .input(*lengths)
      .attr("seq_dim", static_cast<int64_t>(time_axis))
      .attr("batch_dim", static_cast<int64_t>(1 - time_axis))
      .output();
}

std::vector<Output> reversed(const std::vector<Output>& steps, const std::optional<In>& lengths) {
  if (!lengths) return {steps.rbegin(), steps.rend()};
  return unstack(reversed(stack(steps, 0), lengths, 0), static_cast<int64_t>(steps.size()), 0);
}

// The halves of a state for both ways.
std::pair<State, State> halves(const CellPtr& forward, const State& state) {
  if (state.empty()) return {};
  const auto count = static_cast<ptrdiff_t>(forward->state_size().size());
  if (count > static_cast<ptrdiff_t>(state.size()))
    throw invalid_argument("the initial state is too short for both ways");
  return {State(state.begin(), state.begin() + count), State(state.begin() + count, state.end())};
}

}  // namespace

Sequence dynamic_rnn(const CellPtr& cell, const Output& inputs, const DynamicRnnOptions& options, In::Where where) {
  Graph& graph = inputs.graph();
  auto scope = graph.variable_scope(options.scope);
  const Output steps = options.time_major ? inputs : transpose_batch_time(inputs);
  const In batch_size = batch_size_of({steps});
  Output lengths;
  if (options.sequence_length) {
    lengths = checked_lengths(nn::as_output(graph, *options.sequence_length, int32, "sequence_length"), batch_size);
  }
  FlatLoop loop{.cell = as_flat(cell, where),
                .inputs = {steps},
                .state = options.initial_state,
                .output_sizes = {cell->output_size()},
                .dtype = options.initial_state.empty() ? options.dtype : options.initial_state[0].dtype(),
                .batch_size = batch_size,
                .lengths = lengths,
                .options = {.parallel_iterations = 32}};
  if (loop.state.empty()) loop.state = cell->zero_state(graph, batch_size, options.dtype);
  FlatStep result = dynamic_loop(loop);
  return {options.time_major ? result.outputs[0] : transpose_batch_time(result.outputs[0]), std::move(result.state)};
}

Unrolled static_rnn(const CellPtr& cell, const std::vector<Output>& inputs, const RnnOptions& options,
                    In::Where where) {
  if (inputs.empty()) throw invalid_argument("inputs must not be empty");
  Graph& graph = inputs[0].graph();
  auto scope = graph.variable_scope(options.scope);
  const Shape& first = inputs[0].shape();
  const bool known = first.has_rank() && first.rank() > 0 && first[0] != kUnknown;
  const In batch_size = known ? In(first[0]) : In(subscript(shape(inputs[0]), {0}));
  State state = options.initial_state;
  if (state.empty()) state = cell->zero_state(graph, batch_size, options.dtype);
  Output lengths;
  std::vector<Output> zero_outputs;
  if (options.sequence_length) {
    lengths = cast(nn::as_output(graph, *options.sequence_length, int32, "sequence_length"), int32);
    zero_outputs = {zeros_for_batch(graph, batch_size, cell->output_size(), state[0].dtype())};
  }
  Unrolled result;
  const FlatCell flat = as_flat(cell, where);
  for (size_t time = 0; time < inputs.size(); ++time) {
    if (time > 0) scope.reuse_variables();
    FlatStep step = bounded_step(flat, {inputs[time]}, state, static_cast<int>(time), lengths, zero_outputs);
    result.outputs.push_back(step.outputs[0]);
    state = std::move(step.state);
  }
  result.state = std::move(state);
  return result;
}

Unrolled static_state_saving_rnn(const CellPtr& cell, const std::vector<Output>& inputs, StateSaver& saver,
                                 const std::vector<std::string>& state_names, const RnnOptions& given,
                                 In::Where where) {
  if (const size_t wanted = cell->state_size().size(); state_names.size() != wanted) {
    throw invalid_argument("#elems(state_name) != #elems(state_size): {} vs. {}", state_names.size(), wanted);
  }
  RnnOptions options = given;
  options.initial_state.clear();
  for (const std::string& name : state_names) options.initial_state.push_back(saver.state(name));
  Unrolled result = static_rnn(cell, inputs, options, where);
  std::vector<Operation> saves;
  for (size_t i = 0; i < state_names.size(); ++i) saves.push_back(saver.save_state(state_names[i], result.state[i]));
  auto after = inputs[0].graph().control_dependencies(saves);
  result.outputs.back() = identity(result.outputs.back());
  for (Output& part : result.state) part = identity(part);
  return result;
}

BothWays bidirectional_dynamic_rnn(const CellPtr& forward, const CellPtr& backward, const Output& inputs,
                                   const DynamicRnnOptions& options, In::Where where) {
  const int time_axis = options.time_major ? 0 : 1;
  auto scope = inputs.graph().variable_scope(options.scope);
  auto [first_forward, first_backward] = halves(forward, options.initial_state);
  DynamicRnnOptions way = options;
  way.scope = "fw";
  way.initial_state = first_forward;
  Sequence there = dynamic_rnn(forward, inputs, way, where);
  way.scope = "bw";
  way.initial_state = first_backward;
  Sequence back = dynamic_rnn(backward, reversed(inputs, options.sequence_length, time_axis), way, where);
  return {there.outputs, reversed(back.outputs, options.sequence_length, time_axis), there.state, back.state};
}

UnrolledBothWays static_bidirectional_rnn(const CellPtr& forward, const CellPtr& backward,
                                          const std::vector<Output>& inputs, const RnnOptions& options,
                                          In::Where where) {
  if (inputs.empty()) throw invalid_argument("inputs must not be empty");
  Unrolled there, back;
  {
    auto scope = inputs[0].graph().variable_scope(options.scope);
    auto [first_forward, first_backward] = halves(forward, options.initial_state);
    RnnOptions way = options;
    way.scope = "fw";
    way.initial_state = first_forward;
    there = static_rnn(forward, inputs, way, where);
    way.scope = "bw";
    way.initial_state = first_backward;
    back = static_rnn(backward, reversed(inputs, options.sequence_length), way, where);
  }
  const std::vector<Output> outputs = reversed(back.outputs, options.sequence_length);
  UnrolledBothWays result{{}, there.state, back.state};
  for (size_t i = 0; i < outputs.size(); ++i) result.outputs.push_back(concat({there.outputs[i], outputs[i]}, 1));
  return result;
}

StackedBothWays stack_bidirectional_dynamic_rnn(const std::vector<CellPtr>& forward,
                                                const std::vector<CellPtr>& backward, const Output& inputs,
                                                const DynamicRnnOptions& options, In::Where where) {
  if (forward.empty() || forward.size() != backward.size()) {
    throw invalid_argument("Forward and Backward cells must have the same depth.");
  }
  if (!options.initial_state.empty()) throw invalid_argument("initial states of stacked layers are zeros");
  auto scope = inputs.graph().variable_scope(options.scope);
  StackedBothWays result{inputs, {}, {}};
  for (size_t i = 0; i < forward.size(); ++i) {
    auto layer_scope = inputs.graph().variable_scope("cell_" + std::to_string(i));
    DynamicRnnOptions layer = options;
    layer.scope = "bidirectional_rnn";
    BothWays both = bidirectional_dynamic_rnn(forward[i], backward[i], result.outputs, layer, where);
    result.outputs = concat({both.forward, both.backward}, 2);
    result.forward_states.push_back(both.forward_state);
    result.backward_states.push_back(both.backward_state);
  }
  return result;
}

Sequence raw_rnn(Graph& graph, const CellPtr& cell, const RawLoop& loop, std::string_view scope_name) {
  auto scope = graph.variable_scope(scope_name);
  const Output start = graph.constant(Tensor(int32_t{0}));
  const RawStep first = loop(start, Output(), {});
  if (first.state.size() != cell->state_size().size()) {
    throw invalid_argument("the loop gives a state of {} tensors, but the cell's has {}", first.state.size(),
                           cell->state_size().size());
  }
  const DType dtype = first.state.empty() ? float32 : first.state[0].dtype();
  const Output batch_size = subscript(shape(first.input), {0});
  const int64_t batch = first.input.shape().has_rank() ? first.input.shape()[0] : kUnknown;
  const Shape size = first.emit ? first.emit.shape() : cell->output_size();
  Shape element{batch};
  for (int64_t each : size.dims()) element.append(each);
  const Output zero = zeros_for_batch(graph, batch_size, size, first.emit ? first.emit.dtype() : dtype);
  const TensorArray emitted(graph, zero.dtype(), {.size = 0, .dynamic_size = true, .element_shape = element});
  std::vector<In> variables{start, first.finished, first.input, emitted.flow()};
  variables.insert(variables.end(), first.state.begin(), first.state.end());
  auto body = [&](const std::vector<Output>& now) {
    const Output &time = now[0], &finished = now[1];
    const State state(now.begin() + 4, now.end());
    const Step step = (*cell)(now[2], state);
    const Output next_time = time + 1;
    RawStep next = loop(next_time, step.output, step.state);
    const Output emit = frozen(finished, {zero}, {next.emit ? next.emit : step.output})[0];
    std::vector<Output> results{next_time, logical_or(finished, next.finished), next.input,
                                emitted.with_flow(now[3]).write(time, emit).flow()};
    for (const Output& part : frozen(finished, state, next.state)) results.push_back(part);
    return results;
  };
  const std::vector<Output> last = nn::while_loop(
      graph, [](const std::vector<Output>& now) { return logical_not(reduce_all(now[1])); }, body, variables,
      {.parallel_iterations = 32}, In::Where::current());
  return {emitted.with_flow(last[3]).stack(), State(last.begin() + 4, last.end())};
}

}  // namespace weir::rnn
