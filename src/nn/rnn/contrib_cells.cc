#include "nn/rnn/cell_parts.h"
#include "weir/contrib_cells.h"
#include "weir/sequence_ops.h"

// Cells of tf.contrib.rnn with gates of their own. The nodes come in the order in which TensorFlow makes them.
namespace weir::rnn {
namespace {

constexpr int kNasParts = 8;

}  // namespace

Step nas_step(const Output& inputs, const State& state, const NASWeights& weights) {
  Output recurrent = matmul(state[1], weights.recurrent_kernel);
  const Output given = matmul(inputs, weights.kernel);
  if (weights.bias) recurrent = nn::bias_add(recurrent, weights.bias);
  const std::vector<Output> m = split(recurrent, kNasParts, 1), x = split(given, kNasParts, 1);
  const Output a = sigmoid(x[0] + m[0]), b = nn::relu(x[1] + m[1]);
  const Output c = sigmoid(x[2] + m[2]), d = nn::relu(x[3] * m[3]);
  const Output e = tanh(x[4] + m[4]), f = sigmoid(x[5] + m[5]);
  const Output g = tanh(x[6] + m[6]), h = sigmoid(x[7] + m[7]);
  const Output first = tanh(a * b), second = tanh(c + d), third = tanh(e * f), fourth = sigmoid(g + h);
  const Output memory = tanh(first + state[0]) * second;
  Output shown = tanh(memory * tanh(third + fourth));
  if (weights.projection) shown = matmul(shown, weights.projection);
  return {shown, {memory, shown}};
}

Step ugrnn_step(const Output& inputs, const Output& state, const Output& kernel, const Output& bias, float forget_bias,
                const Activation& activation) {
  const std::vector<Output> parts = split(nn::bias_add(matmul(concat({inputs, state}, 1), kernel), bias), 2, 1);
  const Output candidate = activated(activation, parts[1]);
  const Output gate = sigmoid(parts[0] + forget_bias);
  const Output kept = gate * state;
  const Output output = kept + (1 - gate) * candidate;
  return {output, {output}};
}

Step sru_step(const Output& inputs, const Output& state, const Output& kernel, const Output& bias,
              const Activation& activation) {
  const std::vector<Output> parts = split(matmul(inputs, kernel), 4, 1);
  const std::vector<Output> gates = split(sigmoid(nn::bias_add(concat({parts[1], parts[2]}, 1), bias)), 2, 1);
  const Output &forget = gates[0], &reset = gates[1];
  const Output kept = forget * state;
  const Output memory = kept + (1 - forget) * parts[0];
  const Output shown = reset * activated(activation, memory);
  return {shown + (1 - reset) * parts[3], {memory}};
}

NASCell::NASCell(int64_t units, const NASOptions& options)
    : Cell("nas_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void NASCell::build(const Shape& inputs) {
  const int64_t columns = kNasParts * units_;
  recurrent_kernel_ = add_weight("recurrent_kernel", {output_size()[0], columns});
  kernel_ = add_weight("kernel", {depth_of(inputs), columns});
  if (options_.use_bias) bias_ = add_weight("bias", {columns}, {.initializer = zeros_initializer()});
  if (options_.num_proj) projection_ = add_weight("projection_weights", {units_, *options_.num_proj});
}

Step NASCell::call(const Output& inputs, const State& state) {
  return nas_step(inputs, state, {recurrent_kernel_, kernel_, bias_, projection_});
}

UGRNNCell::UGRNNCell(int64_t units, const UGRNNOptions& options)
    : Cell("ugrnn_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void UGRNNCell::build(const Shape& inputs) {
  kernel_ = add_weight("kernel", {depth_of(inputs) + units_, 2 * units_}, {.initializer = options_.initializer});
  bias_ = add_weight("bias", {2 * units_}, {.initializer = constant_initializer(0)});
}

Step UGRNNCell::call(const Output& inputs, const State& state) {
  return ugrnn_step(inputs, state[0], kernel_, bias_, options_.forget_bias, options_.activation);
}

SRUCell::SRUCell(int64_t units, const CellOptions& options)
    : Cell("sru_cell", {.name = options.name, .reuse = options.reuse}), units_(units), activation_(options.activation) {
  set_input_spec({.ndim = 2});
}

void SRUCell::build(const Shape& inputs) {
  kernel_ = add_weight("kernel", {depth_of(inputs), 4 * units_});
  bias_ = add_weight("bias", {2 * units_}, {.initializer = zeros_initializer()});
}

Step SRUCell::call(const Output& inputs, const State& state) {
  return sru_step(inputs, state[0], kernel_, bias_, activation_);
}

GRUBlockCell::GRUBlockCell(int64_t units, const GRUBlockOptions& options)
    : Cell("gru_cell", {.name = options.name, .reuse = options.reuse}), units_(units), gru_names_(options.gru_names) {
  set_input_spec({.ndim = 2});
}

void GRUBlockCell::build(const Shape& inputs) {
  const int64_t rows = depth_of(inputs) + units_;
  gate_kernel_ = add_weight(gru_names_ ? "gates/kernel" : "w_ru", {rows, 2 * units_});
  gate_bias_ = add_weight(gru_names_ ? "gates/bias" : "b_ru", {2 * units_}, {.initializer = constant_initializer(1)});
  candidate_kernel_ = add_weight(gru_names_ ? "candidate/kernel" : "w_c", {rows, units_});
  candidate_bias_ =
      add_weight(gru_names_ ? "candidate/bias" : "b_c", {units_}, {.initializer = constant_initializer(0)});
}

Step GRUBlockCell::call(const Output& inputs, const State& state) {
  const Output h = nn::gru_block_cell(inputs, state[0], gate_kernel_, candidate_kernel_, gate_bias_, candidate_bias_).h;
  return {h, {h}};
}

}  // namespace weir::rnn
