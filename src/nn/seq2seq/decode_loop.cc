#include "nn/seq2seq/decode_loop.h"

#include "base/errors.h"
#include "nn/control_flow.h"
#include "nn/convert.h"
#include "nn/rnn/loops.h"
#include "weir/ops.h"
#include "weir/tensor_array.h"

namespace weir::seq2seq {
namespace {

void require_same(size_t have, size_t want, const char* what) {
  if (have != want)
    throw invalid_argument("a step of the decoder gives {} {}, but there were {} before", have, what, want);
}

}  // namespace

FlatDecoded decode_loop(const FlatDecoder& decoder) {
  Graph& graph = decoder.finished.graph();
  Output finished = decoder.finished;
  WhileOptions options{.parallel_iterations = decoder.parallel_iterations};
  if (decoder.maximum_iterations) {
    const Output most = nn::as_output(graph, *decoder.maximum_iterations, int32, "maximum_iterations");
    if (most.shape().has_rank() && !most.shape().is_scalar()) {
      throw invalid_argument("maximum_iterations must be a scalar");
    }
    finished = logical_or(finished, greater_equal(graph.constant(Tensor(int32_t{0})), most));
    options.maximum_iterations = In(most);
  }
  const Output lengths = zeros_like(finished, int32);
  std::vector<In> variables{graph.constant(Tensor(int32_t{0})), finished, lengths};
  std::vector<TensorArray> arrays;
  for (size_t i = 0; i < decoder.output_types.size(); ++i) {
    arrays.emplace_back(
        graph, decoder.output_types[i],
        TensorArrayOptions{.size = 0, .dynamic_size = true, .element_shape = decoder.element_shapes[i]});
    variables.emplace_back(arrays.back().flow());
  }
  for (const auto* list : {&decoder.state, &decoder.inputs}) {
    for (const Output& each : *list) variables.emplace_back(each);
  }
  const auto first_state = static_cast<ptrdiff_t>(3 + arrays.size());
  const auto first_input = first_state + static_cast<ptrdiff_t>(decoder.state.size());
  auto body = [&](const std::vector<Output>& now) {
    const Output &time = now[0], &ended = now[1], &counted = now[2];
    const std::vector<Output> state(now.begin() + first_state, now.begin() + first_input);
    const std::vector<Output> inputs(now.begin() + first_input, now.end());
    FlatDecoderStep step = decoder.step(time, inputs, state);
    require_same(step.outputs.size(), arrays.size(), "outputs");
    require_same(step.state.size(), state.size(), "parts of a state");
    require_same(step.inputs.size(), inputs.size(), "inputs");
    const Output next_ended = decoder.tracks_own_finished ? step.finished : logical_or(step.finished, ended);
    const Output here = fill(shape(counted), time + 1);
    const Output next_counted = where(logical_not(ended), here, counted);
    if (decoder.impute_finished) {
      for (size_t i = 0; i < step.outputs.size(); ++i) {
        step.outputs[i] = where(ended, decoder.zero_outputs[i], step.outputs[i]);
      }
      step.state = rnn::frozen(ended, state, step.state);
    }
    std::vector<Output> next{time + 1, next_ended, next_counted};
    for (size_t i = 0; i < arrays.size(); ++i) {
      next.push_back(arrays[i].with_flow(now[3 + i]).write(time, step.outputs[i]).flow());
    }
    next.insert(next.end(), step.state.begin(), step.state.end());
    next.insert(next.end(), step.inputs.begin(), step.inputs.end());
    return next;
  };
  const std::vector<Output> last = nn::while_loop(
      graph, [](const std::vector<Output>& now) { return logical_not(reduce_all(now[1])); }, body, variables, options,
      In::Where::current());
  FlatDecoded result;
  for (size_t i = 0; i < arrays.size(); ++i) result.outputs.push_back(arrays[i].with_flow(last[3 + i]).stack());
  result.state.assign(last.begin() + first_state, last.begin() + first_input);
  result.lengths = last[2];
  return result;
}

}  // namespace weir::seq2seq
