#include "nn/rnn/cell_parts.h"
#include "weir/gated_cells.h"
#include "weir/nn_functions.h"

// LSTMs whose gates, memory or weights are normalised. The nodes come in the order in which TensorFlow makes them.
namespace weir::rnn {
namespace {

// What the LSTMs with peepholes have: i, j, f, o and the weights of the peepholes.
struct Peepholes {
  Output f, i, o;
};
Peepholes peepholes(const WeightSource& weights, int64_t units, const Initializer& initializer) {
  auto diagonal = [&](const char* gate) {
    return weights(std::string("w_") + gate + "_diag", {units}, {.initializer = initializer});
  };
  Peepholes made;
  made.f = diagonal("f");
  made.i = diagonal("i");
  made.o = diagonal("o");
  return made;
}

}  // namespace

Step coupled_lstm_step(const Output& inputs, const State& state, int64_t units, const CoupledLSTMOptions& options,
                       const WeightSource& weights) {
  const Output &c = state[0], &h = state[1];
  const int64_t h_size = options.num_proj.value_or(units);
  const Normalization norm{options.layer_norm, options.norm_gain, options.norm_shift};
  const Output kernel = sharded(weights, "W", {depth_of(inputs.shape()) + h_size, 3 * units}, options.num_unit_shards);
  const Output bias = weights("B", {3 * units}, {.initializer = zeros_initializer()});
  Output product = matmul(concat({inputs, h}, 1), kernel);
  if (!options.layer_norm) product = nn::bias_add(product, bias);
  const std::vector<Output> gates = split(product, 3, 1);
  const Output j = normalized(weights, gates[0], "transform", norm);
  Output f = normalized(weights, gates[1], "forget", norm);
  Output o = normalized(weights, gates[2], "output", norm);
  f = f + options.forget_bias;
  Output w_o;
  if (options.use_peepholes) {
    const Output w_f = weights("W_F_diag", {units}, {});
    w_o = weights("W_O_diag", {units}, {});
    f = f + w_f * c;
  }
  f = sigmoid(f);
  const Output kept = f * c;
  Output new_c = kept + (1 - f) * activated(options.activation, j);
  new_c = normalized(weights, new_c, "state", norm);
  if (w_o) o = o + w_o * new_c;
  const Output out = sigmoid(o);
  Output new_h = out * activated(options.activation, new_c);
  if (options.num_proj) {
    new_h = matmul(new_h, sharded(weights, "W_P", {units, *options.num_proj}, options.num_proj_shards));
    new_h = clipped(new_h, options.proj_clip);
  }
  return {new_h, {new_c, new_h}};
}

Step layer_norm_basic_lstm_step(const Output& inputs, const State& state, int64_t units,
                                const LayerNormLSTMOptions& options, const WeightSource& weights) {
  const Normalization norm{options.layer_norm, options.norm_gain, options.norm_shift};
  const Output joined = concat({inputs, state[1]}, 1);
  Output product = matmul(joined, weights("kernel", {depth_of(joined.shape()), 4 * units}, {}));
  if (!options.layer_norm) product = nn::bias_add(product, weights("bias", {4 * units}, {}));
  const std::vector<Output> gates = split(product, 4, 1);
  const Output i = normalized(weights, gates[0], "input", norm);
  const Output j = normalized(weights, gates[1], "transform", norm);
  const Output f = normalized(weights, gates[2], "forget", norm);
  const Output o = normalized(weights, gates[3], "output", norm);
  Output g = activated(options.activation, j);
  if (!keeps_all(options.dropout_keep_prob)) {
    g = nn::dropout(g, options.dropout_keep_prob, {.seed = options.dropout_seed});
  }
  const Output kept = state[0] * sigmoid(f + options.forget_bias);
  Output c = kept + sigmoid(i) * g;
  c = normalized(weights, c, "state", norm);
  const Output shown = activated(options.activation, c);
  const Output h = shown * sigmoid(o);
  return {h, {c, h}};
}

Step layer_norm_lstm_step(const Output& inputs, const State& state, int64_t units,
                          const LayerNormProjectedOptions& options, const WeightSource& weights) {
  const Output& before = state[0];
  const Normalization norm{options.layer_norm, options.norm_gain, options.norm_shift};
  const Initializer& initializer = options.initializer;
  const Output joined = concat({inputs, state[1]}, 1);
  const Output kernel = weights("kernel", {depth_of(joined.shape()), 4 * units}, {.initializer = initializer});
  const Output bias = weights("bias", {4 * units}, {.initializer = constant_initializer(0)});
  Output product = matmul(joined, kernel);
  if (!options.layer_norm) product = nn::bias_add(product, bias);
  const std::vector<Output> gates = split(product, 4, 1);
  Output i = normalized(weights, gates[0], "input", norm);
  const Output j = normalized(weights, gates[1], "transform", norm);
  Output f = normalized(weights, gates[2], "forget", norm);
  Output o = normalized(weights, gates[3], "output", norm);
  f = f + options.forget_bias;
  Peepholes w;
  if (options.use_peepholes) {
    w = peepholes(weights, units, initializer);
    f = f + w.f * before;
    i = i + w.i * before;
  }
  const Output kept = sigmoid(f) * before, in = sigmoid(i);
  Output c = kept + in * activated(options.activation, j);
  c = clipped(normalized(weights, c, "state", norm), options.cell_clip);
  if (options.use_peepholes) o = o + w.o * c;
  const Output out = sigmoid(o);
  Output h = out * activated(options.activation, c);
  if (options.num_proj) {
    h = matmul(h, weights("projection/kernel", {units, *options.num_proj}, {.initializer = initializer}));
    h = clipped(h, options.proj_clip);
  }
  return {h, {c, h}};
}

namespace {

// The parts times a matrix whose rows for each part are directions of length "<scope>norm_<i>".
Output normed_product(const WeightSource& weights, const std::string& scope, const std::vector<Output>& parts,
                      int64_t columns, const WeightNormOptions& options) {
  int64_t rows = 0;
  for (const Output& part : parts) rows += depth_of(part.shape());
  Output matrix = weights(scope + "kernel", {rows, columns}, {.initializer = options.initializer});
  if (options.norm) {
    std::vector<Output> normed;
    int64_t row = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t depth = depth_of(parts[i].shape());
      const Output part = slice(matrix, {row, 0}, {depth, -1});
      const Output length =
          weights(scope + "norm_" + std::to_string(i), {columns}, {.initializer = options.initializer});
      normed.push_back(nn::l2_normalize(part, {0}) * length);
      row += depth;
    }
    matrix = concat(normed, 0);
  }
  return matmul(parts.size() == 1 ? parts[0] : concat(parts, 1), matrix);
}

}  // namespace

Step weight_norm_lstm_step(const Output& inputs, const State& state, int64_t units, const WeightNormOptions& options,
                           const WeightSource& weights) {
  const Output& before = state[0];
  const WeightSource own = [&](const std::string& name, const Shape& shape, const layers::WeightOptions& o) {
    return weights("wn_lstm_cell/" + name, shape, o);
  };
  const Output product = normed_product(own, "", {inputs, state[1]}, 4 * units, options);
  const Output bias = own("bias", {4 * units}, {.initializer = constant_initializer(0)});
  const std::vector<Output> gates = split(nn::bias_add(product, bias), 4, 1);
  Output i = gates[0], f = gates[2] + options.forget_bias, o = gates[3];
  Peepholes w;
  if (options.use_peepholes) {
    w = peepholes(own, units, options.initializer);
    f = f + w.f * before;
    i = i + w.i * before;
  }
  const Output kept = before * sigmoid(f), in = sigmoid(i);
  const Output c = clipped(kept + in * activated(options.activation, gates[1]), options.cell_clip);
  if (options.use_peepholes) o = o + w.o * c;
  const Output out = sigmoid(o);
  Output h = out * activated(options.activation, c);
  if (options.num_proj) {
    h = clipped(normed_product(own, "projection/", {h}, *options.num_proj, options), options.proj_clip);
  }
  return {h, {c, h}};
}

CoupledInputForgetGateLSTMCell::CoupledInputForgetGateLSTMCell(int64_t units, const CoupledLSTMOptions& options)
    : ProjectedLSTM("coupled_input_forget_gate_lstm_cell", units, options) {}

Step CoupledInputForgetGateLSTMCell::call(const Output& inputs, const State& state) {
  return coupled_lstm_step(inputs, state, units_, options_, own_weights());
}

LayerNormBasicLSTMCell::LayerNormBasicLSTMCell(int64_t units, const LayerNormLSTMOptions& options)
    : Cell("layer_norm_basic_lstm_cell", {.name = options.name, .reuse = options.reuse}),
      units_(units),
      options_(options) {}

Step LayerNormBasicLSTMCell::call(const Output& inputs, const State& state) {
  return layer_norm_basic_lstm_step(inputs, state, units_, options_, own_weights());
}

LayerNormLSTMCell::LayerNormLSTMCell(int64_t units, const LayerNormProjectedOptions& options)
    : ProjectedLSTM("layer_norm_lstm_cell", units, options) {}

Step LayerNormLSTMCell::call(const Output& inputs, const State& state) {
  return layer_norm_lstm_step(inputs, state, units_, options_, own_weights());
}

WeightNormLSTMCell::WeightNormLSTMCell(int64_t units, const WeightNormOptions& options)
    : ProjectedLSTM("wn_lstm_cell", units, options) {}

Step WeightNormLSTMCell::call(const Output& inputs, const State& state) {
  return weight_norm_lstm_step(inputs, state, units_, options_, own_weights());
}

}  // namespace weir::rnn
