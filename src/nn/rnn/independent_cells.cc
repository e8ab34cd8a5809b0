#include "nn/rnn/cell_parts.h"
#include "weir/contrib_cells.h"

// Cells whose units see only their own state: the recurrent weights are a vector and not a matrix.
namespace weir::rnn {
namespace {

Output affine(const Output& inputs, Output state, const IndependentWeights& weights, int32_t gates = 1) {
  if (gates > 1) state = tile(state, {1, gates});
  const Output product = matmul(inputs, weights.kernel);
  return nn::bias_add(product + state * weights.own, weights.bias);
}

Initializer or_constant(const Initializer& given, double usual) {
  return given ? given : usual == 0 ? zeros_initializer() : constant_initializer(usual);
}

Initializer own_initializer() { return random_uniform_initializer(-1, 1); }

}  // namespace

Step ind_rnn_step(const Output& inputs, const Output& state, const IndependentWeights& weights,
                  const Activation& activation) {
  const Output output = activated(activation, affine(inputs, state, weights));
  return {output, {output}};
}

Step indy_gru_step(const Output& inputs, const Output& state, const IndependentWeights& gates,
                   const IndependentWeights& candidate, const Activation& activation) {
  const std::vector<Output> parts = split(sigmoid(affine(inputs, state, gates, 2)), 2, 1);
  const Output &reset = parts[0], &update = parts[1];
  const Output proposed = activated(activation, affine(inputs, reset * state, candidate));
  const Output kept = update * state;
  const Output output = kept + (1 - update) * proposed;
  return {output, {output}};
}

Step indy_lstm_step(const Output& inputs, const State& state, const IndependentWeights& weights, float forget_bias,
                    const Activation& activation) {
  const std::vector<Output> gates = split(affine(inputs, state[1], weights, 4), 4, 1);
  const Output kept = state[0] * sigmoid(gates[2] + forget_bias);
  const Output in = sigmoid(gates[0]);
  const Output c = kept + in * activated(activation, gates[1]);
  const Output shown = activated(activation, c);
  const Output h = shown * sigmoid(gates[3]);
  return {h, {c, h}};
}

IndRNNCell::IndRNNCell(int64_t units, const CellOptions& options)
    : Cell("ind_rnn_cell", {.name = options.name, .reuse = options.reuse}),
      units_(units),
      activation_(options.activation) {
  set_input_spec({.ndim = 2});
}

void IndRNNCell::build(const Shape& inputs) {
  weights_.kernel = add_weight("kernel_w", {depth_of(inputs), units_});
  weights_.own = add_weight("kernel_u", {1, units_}, {.initializer = own_initializer()});
  weights_.bias = add_weight("bias", {units_}, {.initializer = zeros_initializer()});
}

Step IndRNNCell::call(const Output& inputs, const State& state) {
  return ind_rnn_step(inputs, state[0], weights_, activation_);
}

IndyGRUCell::IndyGRUCell(int64_t units, const GRUOptions& options)
    : Cell("indy_gru_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void IndyGRUCell::build(const Shape& inputs) {
  const layers::WeightOptions given{.initializer = options_.kernel_initializer};
  const int64_t depth = depth_of(inputs);
  gates_.kernel = add_weight("gates/kernel_w", {depth, 2 * units_}, given);
  gates_.own = add_weight("gates/kernel_u", {1, 2 * units_}, {.initializer = own_initializer()});
  gates_.bias = add_weight("gates/bias", {2 * units_}, {.initializer = or_constant(options_.bias_initializer, 1)});
  candidate_.kernel = add_weight("candidate/kernel", {depth, units_}, given);
  candidate_.own = add_weight("candidate/kernel_u", {1, units_}, {.initializer = own_initializer()});
  candidate_.bias = add_weight("candidate/bias", {units_}, {.initializer = or_constant(options_.bias_initializer, 0)});
}

Step IndyGRUCell::call(const Output& inputs, const State& state) {
  return indy_gru_step(inputs, state[0], gates_, candidate_, options_.activation);
}

IndyLSTMCell::IndyLSTMCell(int64_t units, const BasicLSTMOptions& options)
    : Cell("indy_lstm_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void IndyLSTMCell::build(const Shape& inputs) {
  weights_.kernel = add_weight("kernel_w", {depth_of(inputs), 4 * units_});
  weights_.own = add_weight("kernel_u", {1, 4 * units_}, {.initializer = own_initializer()});
  weights_.bias = add_weight("bias", {4 * units_}, {.initializer = zeros_initializer()});
}

Step IndyLSTMCell::call(const Output& inputs, const State& state) {
  return indy_lstm_step(inputs, state, weights_, options_.forget_bias, options_.activation);
}

}  // namespace weir::rnn
