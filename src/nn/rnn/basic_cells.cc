#include "nn/rnn/cell_parts.h"

// The plain cell, gated units and long short-term memory. The nodes come in the order in which TensorFlow makes them.
namespace weir::rnn {
namespace {

Output affine(const Output& x, const Output& state, const Output& kernel, const Output& bias) {
  return nn::bias_add(matmul(concat({x, state}, 1), kernel), bias);
}

layers::LayerOptions layer_options(const std::string& name, const std::optional<Reuse>& reuse) {
  return {.name = name, .reuse = reuse};
}

layers::WeightOptions zeros_weight() { return {.initializer = zeros_initializer()}; }

}  // namespace

Step basic_rnn_step(const Output& inputs, const Output& state, const Output& kernel, const Output& bias,
                    const Activation& activation) {
  Output output = activated(activation, affine(inputs, state, kernel, bias));
  return {output, {output}};
}

Step gru_step(const Output& inputs, const Output& state, const Output& gate_kernel, const Output& gate_bias,
              const Output& candidate_kernel, const Output& candidate_bias, const Activation& activation) {
  const std::vector<Output> gates = split(sigmoid(affine(inputs, state, gate_kernel, gate_bias)), 2, 1);
  const Output &r = gates[0], &u = gates[1];
  const Output reset = r * state;
  const Output candidate = activated(activation, affine(inputs, reset, candidate_kernel, candidate_bias));
  const Output kept = u * state;
  const Output taken = (1 - u) * candidate;
  const Output output = kept + taken;
  return {output, {output}};
}

Step basic_lstm_step(const Output& inputs, const State& state, const LSTMWeights& weights, float forget_bias,
                     const Activation& activation) {
  const Output &c = state[0], &h = state[1];
  const Output one = inputs.graph().constant(Tensor(int32_t{1}));
  const std::vector<Output> gates = split(affine(inputs, h, weights.kernel, weights.bias), 4, one);
  const Output &i = gates[0], &j = gates[1], &f = gates[2], &o = gates[3];
  const Output bias = inputs.graph().constant(Literal(forget_bias), f.dtype());
  const Output kept = multiply(c, sigmoid(add(f, bias)));
  const Output in = sigmoid(i), candidate = activated(activation, j);
  const Output new_c = add(kept, multiply(in, candidate));
  const Output shown = activated(activation, new_c), out = sigmoid(o);
  const Output new_h = multiply(shown, out);
  return {new_h, {new_c, new_h}};
}

Step lstm_step(const Output& inputs, const State& state, const LSTMWeights& weights, const LSTMOptions& options) {
  const Output &c = state[0], &h = state[1];
  const std::vector<Output> gates = split(affine(inputs, h, weights.kernel, weights.bias), 4, 1);
  const Output& j = gates[1];
  Output f = gates[2] + options.forget_bias;
  if (weights.w_f) f = f + weights.w_f * c;
  const Output kept = sigmoid(f) * c;
  const Output in = sigmoid(weights.w_i ? gates[0] + weights.w_i * c : gates[0]);
  Output new_c = kept + in * activated(options.activation, j);
  if (options.cell_clip) new_c = clip_by_value(new_c, -*options.cell_clip, *options.cell_clip);
  const Output out = sigmoid(weights.w_o ? gates[3] + weights.w_o * new_c : gates[3]);
  Output new_h = out * activated(options.activation, new_c);
  if (weights.projection) {
    new_h = matmul(new_h, weights.projection);
    if (options.proj_clip) new_h = clip_by_value(new_h, -*options.proj_clip, *options.proj_clip);
  }
  return {new_h, {new_c, new_h}};
}

BasicRNNCell::BasicRNNCell(int64_t units, const CellOptions& options)
    : Cell("basic_rnn_cell", layer_options(options.name, options.reuse)),
      units_(units),
      activation_(options.activation) {
  set_input_spec({.ndim = 2});
}

void BasicRNNCell::build(const Shape& inputs) {
  kernel_ = add_weight("kernel", {depth_of(inputs) + units_, units_});
  bias_ = add_weight("bias", {units_}, zeros_weight());
}

Step BasicRNNCell::call(const Output& inputs, const State& state) {
  return basic_rnn_step(inputs, state[0], kernel_, bias_, activation_);
}

GRUCell::GRUCell(int64_t units, const GRUOptions& options)
    : Cell("gru_cell", layer_options(options.name, options.reuse)), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void GRUCell::build(const Shape& inputs) {
  const int64_t rows = depth_of(inputs) + units_;
  auto bias = [&](double usual) -> layers::WeightOptions {
    if (options_.bias_initializer) return {.initializer = options_.bias_initializer};
    return {.initializer = usual == 0 ? zeros_initializer() : constant_initializer(usual)};
  };
  gate_kernel_ = add_weight("gates/kernel", {rows, 2 * units_}, {.initializer = options_.kernel_initializer});
  gate_bias_ = add_weight("gates/bias", {2 * units_}, bias(1));
  candidate_kernel_ = add_weight("candidate/kernel", {rows, units_}, {.initializer = options_.kernel_initializer});
  candidate_bias_ = add_weight("candidate/bias", {units_}, bias(0));
}

Step GRUCell::call(const Output& inputs, const State& state) {
  return gru_step(inputs, state[0], gate_kernel_, gate_bias_, candidate_kernel_, candidate_bias_, options_.activation);
}

LSTMCell::LSTMCell(int64_t units, const LSTMOptions& options) : LSTMCell("lstm_cell", units, options) {}

LSTMCell::LSTMCell(std::string kind, int64_t units, const LSTMOptions& options)
    : Cell(std::move(kind), layer_options(options.name, options.reuse)), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void LSTMCell::build(const Shape& inputs) {
  const layers::WeightOptions given{.initializer = options_.initializer};
  kernel_ = add_weight("kernel", {depth_of(inputs) + output_size()[0], 4 * units_}, given);
  bias_ = add_weight("bias", {4 * units_}, zeros_weight());
  if (options_.use_peepholes) {
    w_f_ = add_weight("w_f_diag", {units_}, given);
    w_i_ = add_weight("w_i_diag", {units_}, given);
    w_o_ = add_weight("w_o_diag", {units_}, given);
  }
  if (options_.num_proj) projection_ = add_weight("projection/kernel", {units_, *options_.num_proj}, given);
}

Step LSTMCell::call(const Output& inputs, const State& state) {
  return lstm_step(inputs, state, {kernel_, bias_, w_f_, w_i_, w_o_, projection_}, options_);
}

BasicLSTMCell::BasicLSTMCell(int64_t units, const BasicLSTMOptions& options)
    : LSTMCell("basic_lstm_cell", units,
               {.forget_bias = options.forget_bias,
                .activation = options.activation,
                .name = options.name,
                .reuse = options.reuse}) {}

Step BasicLSTMCell::call(const Output& inputs, const State& state) {
  return basic_lstm_step(inputs, state, {kernel_, bias_}, options_.forget_bias, options_.activation);
}

}  // namespace weir::rnn
