#include "nn/rnn/cell_parts.h"
#include "weir/gated_cells.h"

// An LSTM in groups, and a cell with a gate through depth. The nodes come in the order in which TensorFlow makes them.
namespace weir::rnn {

Step group_lstm_step(const Output& inputs, const State& state, int64_t units, const GroupLSTMOptions& options,
                     const WeightSource& weights) {
  const int groups = static_cast<int>(options.number_of_groups);
  const int64_t depth = depth_of(inputs.shape());
  if (depth % groups) {
    throw invalid_argument("input size ({}) must be divisible by number_of_groups ({})", depth, groups);
  }
  Graph& graph = inputs.graph();
  const std::vector<Output> x = split(inputs, groups, 1), h_before = split(state[1], groups, 1);
  std::vector<std::vector<Output>> parts(4);  // of i, j, f and o those of each group
  for (int group = 0; group < groups; ++group) {
    const std::string name = "group" + std::to_string(group);
    Scope scope = graph.name_scope(name);
    const Output joined = concat({x[group], h_before[group]}, 1);
    const Output product = linear(weights, {joined}, 4 * units / groups,
                                  {.scope = name + "/", .bias = false, .kernel_initializer = options.initializer});
    const std::vector<Output> own = split(product, 4, 1);
    for (size_t gate = 0; gate < 4; ++gate) parts[gate].push_back(own[gate]);
  }
  std::vector<Output> biases, gates;
  for (const char* gate : {"bias_i", "bias_j", "bias_f", "bias_o"}) {
    biases.push_back(weights(gate, {units}, {.initializer = constant_initializer(0)}));
  }
  for (size_t gate = 0; gate < 4; ++gate) gates.push_back(nn::bias_add(concat(parts[gate], 1), biases[gate]));
  const Output kept = sigmoid(gates[2] + options.forget_bias) * state[0];
  const Output in = sigmoid(gates[0]);
  const Output c = kept + in * tanh(gates[1]);
  const Output out = sigmoid(gates[3]);
  Output h = out * activated(options.activation, c);
  if (options.num_proj) {
    Scope scope = graph.name_scope("projection");
    h = linear(weights, {h}, *options.num_proj,
               {.scope = "projection/", .bias = false, .kernel_initializer = options.initializer});
  }
  return {h, {c, h}};
}

Step intersection_step(const Output& inputs, const Output& state, int64_t units, const IntersectionOptions& options,
                       const WeightSource& weights) {
  Graph& graph = inputs.graph();
  Output x = inputs;
  if (depth_of(inputs.shape()) != units) {
    if (!options.num_in_proj) {
      throw invalid_argument(
          "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set to num_units at "
          "cell init.");
    }
    Scope scope = graph.name_scope("in_projection");
    x = linear(weights, {inputs}, units, {.scope = "in_projection/", .kernel_initializer = options.initializer});
  }
  const Output joined = concat({x, state}, 1);
  const std::vector<Output> parts =
      split(linear(weights, {joined}, 4 * units, {.kernel_initializer = options.initializer}), 4, 1);
  const Output h = tanh(parts[1]);
  const Output y = options.y_activation ? options.y_activation(parts[3]) : nn::relu(parts[3]);
  const Output through_time = sigmoid(parts[0] + options.forget_bias);
  const Output through_depth = sigmoid(parts[2] + options.forget_bias);
  auto mixed = [](const Output& gate, const Output& before, const Output& now) {
    const Output kept = gate * before;
    return kept + (1.f - gate) * now;
  };
  const Output output = mixed(through_depth, x, y);
  return {output, {mixed(through_time, state, h)}};
}

GLSTMCell::GLSTMCell(int64_t units, const GroupLSTMOptions& options)
    : ProjectedLSTM("glstm_cell", units, options) {
  if (options.number_of_groups < 1 || units % options.number_of_groups) {
    throw invalid_argument("num_units must be divisible by number_of_groups");
  }
  if (options.num_proj.value_or(0) % options.number_of_groups) {
    throw invalid_argument("num_proj must be divisible by number_of_groups");
  }
}

Step GLSTMCell::call(const Output& inputs, const State& state) {
  return group_lstm_step(inputs, state, units_, options_, own_weights());
}

IntersectionRNNCell::IntersectionRNNCell(int64_t units, const IntersectionOptions& options)
    : Cell("intersection_rnn_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {}

Step IntersectionRNNCell::call(const Output& inputs, const State& state) {
  return intersection_step(inputs, state[0], units_, options_, own_weights());
}

}  // namespace weir::rnn
