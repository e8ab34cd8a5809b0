#include "nn/rnn/loops.h"

#include "base/errors.h"
#include "nn/control_flow.h"
#include "nn/convert.h"
#include "weir/ops.h"
#include "weir/rnn.h"
#include "weir/tensor_array.h"

namespace weir::rnn {
namespace {

void check_inputs(const std::vector<Output>& inputs) {
  const Shape& first = inputs[0].shape();
  for (const Output& input : inputs) {
    const Shape& shape = input.shape();
    if (!shape.has_rank()) continue;
    if (shape.rank() < 3) throw invalid_argument("Shape {} must have rank at least 3", shape.str());
    for (int i = 2; i < shape.rank(); ++i) {
      if (shape[i] == kUnknown) {
        throw invalid_argument(
            "Input size (depth of inputs) must be accessible via shape inference, but saw value None.");
      }
    }
    if (!first.has_rank()) continue;
    if (!Shape{shape[0]}.compatible({first[0]})) {
      throw invalid_argument("Time steps is not the same for all the elements in the input in a batch.");
    }
    if (!Shape{shape[1]}.compatible({first[1]})) {
      throw invalid_argument("Batch_size is not the same for all the elements in the input.");
    }
  }
}

int64_t static_size(const In& batch_size) {
  if (batch_size.output()) return kUnknown;
  const Tensor& value = batch_size.value();
  return value.dtype() == int32 ? value.scalar<int32_t>() : value.scalar<int64_t>();
}

Shape behind(std::initializer_list<int64_t> first, const Shape& rest) {
  Shape shape(first);
  for (int64_t size : rest.dims()) shape.append(size);
  return shape;
}

}  // namespace

std::vector<Output> frozen(const Output& finished, const std::vector<Output>& before,
                           const std::vector<Output>& after) {
  if (before.size() != after.size()) {
    throw invalid_argument("a step gives {} tensors, but there were {} before", after.size(), before.size());
  }
  std::vector<Output> results;
  for (size_t i = 0; i < after.size(); ++i) {
    if (before[i].dtype() == DType::Variant || before[i].shape().is_scalar()) {
      results.push_back(after[i]);
      continue;
    }
    Output chosen = where(finished, before[i], after[i]);
    chosen.set_shape(before[i].shape());
    results.push_back(chosen);
  }
  return results;
}

Output transpose_batch_time(const Output& x) {
  const Shape& shape = x.shape();
  if (shape.has_rank() && shape.rank() < 2) return x;
  if (!shape.has_rank()) {
    const Output rest = range(x.graph(), 2, rank(x));
    return transpose(x, concat({x.graph().constant({1, 0}, int32), rest}, 0));
  }
  std::vector<int32_t> order{1, 0};
  for (int i = 2; i < shape.rank(); ++i) order.push_back(i);
  return transpose(x, Tensor(order));
}

In batch_size_of(const std::vector<Output>& inputs) {
  for (const Output& input : inputs) {
    if (!input.shape().has_rank()) continue;
    if (input.shape().rank() < 2) {
      throw invalid_argument("Expected input tensor {} to have rank at least 2", input.name());
    }
    if (input.shape()[1] != kUnknown) return In(input.shape()[1]);
  }
  return subscript(shape(inputs[0]), {1});
}

Output checked_lengths(const Output& given, const In& batch_size) {
  Output lengths = cast(given, int32);
  if (lengths.shape().has_rank() && lengths.shape().rank() != 1) {
    throw invalid_argument("sequence_length must be a vector of length batch_size, but saw shape: {}",
                           lengths.shape().str());
  }
  lengths = identity(lengths, "sequence_length");
  const Output have = shape(lengths);
  Graph& graph = lengths.graph();
  const Output want = stack({In(nn::as_output(graph, batch_size, int32, "batch_size"))}, 0);
  const Operation fits = assert_true(
      reduce_all(equal(have, want)),
      {In("Expected shape for Tensor " + lengths.name() + " is "), In(want), In(" but saw shape: "), In(have)});
  auto scope = graph.control_dependencies({fits});
  return identity(lengths, "CheckSeqLen");
}

FlatStep dynamic_loop(const FlatLoop& loop) {
  check_inputs(loop.inputs);
  Graph& graph = loop.inputs[0].graph();
  const Shape& first = loop.inputs[0].shape();
  const int64_t batch = static_size(loop.batch_size);
  const Output steps = subscript(shape(loop.inputs[0]), {0});
  std::vector<Output> zero_outputs;
  Output bound = steps;
  if (loop.lengths) {
    for (const Shape& size : loop.output_sizes) {
      zero_outputs.push_back(zeros_for_batch(graph, loop.batch_size, size, loop.dtype));
    }
    // At least one step, so that the outputs have a shape.
    bound = minimum(steps, maximum(1, reduce_max(loop.lengths)));
  }
  std::vector<TensorArray> read, written;
  std::vector<In> variables{graph.constant(Tensor(int32_t{0}), "time")};
  {
    Scope scope = graph.name_scope("dynamic_rnn");
    for (const Output& input : loop.inputs) read.push_back(TensorArray::of_rows(input));
    for (const Shape& size : loop.output_sizes) {
      written.emplace_back(graph, loop.dtype,
                           TensorArrayOptions{.size = steps, .element_shape = behind({batch}, size)});
    }
  }
  for (const TensorArray& array : written) variables.emplace_back(array.flow());
  for (const Output& part : loop.state) variables.emplace_back(part);
  auto body = [&](const std::vector<Output>& now) {
    const Output& time = now[0];
    std::vector<Output> inputs;
    for (const TensorArray& array : read) inputs.push_back(array.read(time));
    const std::vector<Output> state(now.begin() + 1 + static_cast<ptrdiff_t>(written.size()), now.end());
    FlatStep step = loop.cell(inputs, state);
    if (step.outputs.size() != written.size() || step.state.size() != state.size()) {
      throw invalid_argument("a cell gives {} outputs and {} parts of a state, but should give {} and {}",
                             step.outputs.size(), step.state.size(), written.size(), state.size());
    }
    if (loop.lengths) {
      const Output finished = greater_equal(time, loop.lengths);
      step.outputs = frozen(finished, zero_outputs, step.outputs);
      step.state = frozen(finished, state, step.state);
    }
    std::vector<Output> next{time + 1};
    for (size_t i = 0; i < written.size(); ++i) {
      next.push_back(written[i].with_flow(now[i + 1]).write(time, step.outputs[i]).flow());
    }
    next.insert(next.end(), step.state.begin(), step.state.end());
    return next;
  };
  const std::vector<Output> last = nn::while_loop(
      graph, [&](const std::vector<Output>& now) { return less(now[0], bound); }, body, variables, loop.options,
      In::Where::current());
  FlatStep result;
  for (size_t i = 0; i < written.size(); ++i) {
    Output outputs = written[i].with_flow(last[i + 1]).stack();
    outputs.set_shape(behind({first.has_rank() ? first[0] : kUnknown, batch}, loop.output_sizes[i]));
    result.outputs.push_back(outputs);
  }
  result.state.assign(last.begin() + 1 + static_cast<ptrdiff_t>(written.size()), last.end());
  return result;
}

FlatStep bounded_step(const FlatCell& cell, const std::vector<Output>& inputs, const std::vector<Output>& state,
                      int time, const Output& lengths, const std::vector<Output>& zero_outputs) {
  FlatStep step = cell(inputs, state);
  if (!lengths) return step;
  const Output finished = greater_equal(lengths.graph().constant(Tensor(int32_t{time})), lengths);
  return {frozen(finished, zero_outputs, step.outputs), frozen(finished, state, step.state)};
}

}  // namespace weir::rnn
