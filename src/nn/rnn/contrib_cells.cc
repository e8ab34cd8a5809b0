#include "base/errors.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"
#include "weir/rnn_cells.h"
#include "weir/sequence_ops.h"

// The cells of tf.contrib.rnn: fused, normalised, convolutional.
namespace weir::rnn {

LSTMBlockCell::LSTMBlockCell(int64_t units, const LSTMBlockOptions& options)
    : Cell("lstm_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void LSTMBlockCell::build(const Shape& inputs) {
  if (!inputs.has_rank() || inputs[-1] == kUnknown) {
    throw invalid_argument("Expecting inputs_shape[1] to be set: {}", inputs.str());
  }
  kernel_ = add_weight("kernel", {inputs[-1] + units_, 4 * units_});
  bias_ = add_weight("bias", {4 * units_}, {.initializer = constant_initializer(0)});
  if (!options_.use_peephole) return;
  w_i_ = add_weight("w_i_diag", {units_});
  w_f_ = add_weight("w_f_diag", {units_});
  w_o_ = add_weight("w_o_diag", {units_});
}

Step LSTMBlockCell::call(const Output& inputs, const State& state) {
  const bool peephole = options_.use_peephole;
  const Output none = peephole ? Output() : zeros(graph(), Shape{units_}, inputs.dtype());
  auto weight = [&](const Variable& variable) { return peephole ? variable.value() : none; };
  const auto outputs = nn::lstm_block_cell(
      inputs, state[0], state[1], {kernel_, weight(w_i_), weight(w_f_), weight(w_o_), bias_},
      {.forget_bias = options_.forget_bias, .cell_clip = options_.cell_clip.value_or(-1.f), .use_peephole = peephole});
  return {outputs.h, {outputs.cs, outputs.h}};
}

LayerNormBasicLSTMCell::LayerNormBasicLSTMCell(int64_t units, const LayerNormLSTMOptions& options)
    : Cell("layer_norm_basic_lstm_cell", {.name = options.name, .reuse = options.reuse}),
      units_(units),
      options_(options) {}

LayerNormBasicLSTMCell::Norm LayerNormBasicLSTMCell::add_norm(const std::string& scope) {
  return {add_weight(scope + "/gamma", {units_}, {.initializer = constant_initializer(options_.norm_gain)}),
          add_weight(scope + "/beta", {units_}, {.initializer = constant_initializer(options_.norm_shift)})};
}

void LayerNormBasicLSTMCell::build(const Shape& inputs) {
  kernel_ = add_weight("kernel", {inputs[-1] + units_, 4 * units_});
  if (!options_.layer_norm) {
    bias_ = add_weight("bias", {4 * units_});
    return;
  }
  input_ = add_norm("input");
  transform_ = add_norm("transform");
  forget_ = add_norm("forget");
  output_ = add_norm("output");
  state_ = add_norm("state");
}

Output LayerNormBasicLSTMCell::normalized(const Output& x, const Norm& norm) const {
  if (!options_.layer_norm) return x;
  const nn::Moments moments = nn::moments(x, {-1}, {.keep_dims = true});
  return nn::batch_normalization(x, moments.mean, moments.variance,
                                 {.offset = In(norm.beta), .scale = In(norm.gamma), .variance_epsilon = 1e-12f});
}

Step LayerNormBasicLSTMCell::call(const Output& inputs, const State& state) {
  auto activated = [&](const Output& x) { return options_.activation ? options_.activation(x) : tanh(x); };
  Output product = matmul(concat({inputs, state[1]}, 1), kernel_);
  if (!options_.layer_norm) product = nn::bias_add(product, bias_);
  const std::vector<Output> gates = split(product, 4, 1);
  const Output i = normalized(gates[0], input_), j = normalized(gates[1], transform_);
  const Output f = normalized(gates[2], forget_), o = normalized(gates[3], output_);
  Output g = activated(j);
  if (options_.dropout_keep_prob < 1) g = nn::dropout(g, options_.dropout_keep_prob, {.seed = options_.dropout_seed});
  const Output c = normalized(state[0] * sigmoid(f + options_.forget_bias) + sigmoid(i) * g, state_);
  const Output h = activated(c) * sigmoid(o);
  return {h, {c, h}};
}

Conv2DLSTMCell::Conv2DLSTMCell(const Shape& input_shape, int64_t output_channels,
                               const std::vector<int64_t>& kernel_shape, const ConvLSTMOptions& options)
    : Cell("conv_2d_lstm_cell", {.name = options.name}),
      input_shape_(input_shape),
      channels_(output_channels),
      kernel_shape_(kernel_shape),
      options_(options) {
  if (input_shape.rank() != 3 || kernel_shape.size() != 2) {
    throw invalid_argument("Invalid input_shape {} for conv_ndims=2.", input_shape.str());
  }
}

std::vector<Shape> Conv2DLSTMCell::state_size() const {
  const Shape size{input_shape_[0], input_shape_[1], channels_};
  return {size, output_size()};
}

Shape Conv2DLSTMCell::output_size() const {
  return {input_shape_[0], input_shape_[1], channels_ + (options_.skip_connection ? input_shape_[2] : 0)};
}

void Conv2DLSTMCell::build(const Shape&) {
  kernel_ =
      add_weight("kernel", {kernel_shape_[0], kernel_shape_[1], input_shape_[2] + output_size()[2], 4 * channels_});
  if (options_.use_bias) bias_ = add_weight("biases", {4 * channels_}, {.initializer = constant_initializer(0)});
}

Step Conv2DLSTMCell::call(const Output& inputs, const State& state) {
  Output product = nn::conv2d(concat({inputs, state[1]}, 3), kernel_, {.padding = "SAME"});
  if (options_.use_bias) product = product + bias_;
  const std::vector<Output> gates = split(product, 4, 3);
  Output c = sigmoid(gates[2] + options_.forget_bias) * state[0];
  c = c + sigmoid(gates[0]) * tanh(gates[1]);
  Output output = tanh(c) * sigmoid(gates[3]);
  if (options_.skip_connection) output = concat({output, inputs}, -1);
  return {output, {c, output}};
}

}  // namespace weir::rnn
