#include "nn/rnn/cell_parts.h"
#include "weir/gated_cells.h"

// An LSTM with a clock. The nodes come in the order in which TensorFlow makes them.
namespace weir::rnn {
namespace {

// How far a unit is in its period, in [0, 1). The gradient is that of the time itself.
Output cycle_ratio(const Output& time, const Output& phase, const Output& period) {
  const Output own_phase = cast(phase, time.dtype()), own_period = cast(period, time.dtype());
  const Output shifted = time - own_phase;
  const Output within = stop_gradient(mod(shifted, own_period) - shifted) + shifted;
  return cast(within / own_period, float32);
}

// exp of a uniform distribution between the logarithms: every order of magnitude is as likely. What it gave stays in
// `drawn`.
Initializer exponential_initializer(float low, float high, std::shared_ptr<Output> drawn) {
  return Initializer::Function([=](Graph& graph, const Shape& shape, DType dtype) {
    const Output from = log(graph.constant(Tensor(low))), to = log(graph.constant(Tensor(high)));
    std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
    *drawn = exp(random_uniform(graph, graph.constant(Tensor(std::vector<int32_t>(sizes.begin(), sizes.end()))),
                                {.minval = from, .maxval = In(to), .dtype = dtype}));
    return *drawn;
  });
}

// Uniform between zero and where the period begins.
Initializer phase_initializer(std::shared_ptr<Output> period, const Output& made) {
  return Initializer::Function([=](Graph& graph, const Shape& shape, DType dtype) {
    std::vector<int32_t> sizes;
    for (int64_t size : shape.dims()) sizes.push_back(static_cast<int32_t>(size));
    return random_uniform(graph, graph.constant(Tensor(sizes)),
                          {.minval = 0.f, .maxval = In(*period ? *period : made), .dtype = dtype});
  });
}

}  // namespace

Step phased_lstm_step(const Output& time, const Output& inputs, const State& state, int64_t units,
                      const PhasedLSTMOptions& options, const WeightSource& weights) {
  const Output &c_before = state[0], &h_before = state[1];
  auto with = [&](const Output& memory) {
    std::vector<Output> parts = {inputs, h_before};
    if (options.use_peepholes) parts.push_back(memory);
    return parts;
  };
  Graph& graph = inputs.graph();
  std::vector<Output> gates;
  {
    Scope scope = graph.name_scope("mask_gates");
    gates = split(sigmoid(linear(weights, with(c_before), 2 * units, {.scope = "mask_gates/"})), 2, 1);
  }
  Output candidate;
  {
    Scope scope = graph.name_scope("new_input");
    candidate = tanh(linear(weights, {inputs, h_before}, units, {.scope = "new_input/"}));
  }
  const Output kept = c_before * gates[1];
  const Output open_c = kept + gates[0] * candidate;
  Output out;
  {
    Scope scope = graph.name_scope("output_gate");
    out = sigmoid(linear(weights, with(open_c), units, {.scope = "output_gate/"}));
  }
  const Output open_h = tanh(open_c) * out;
  auto drawn = std::make_shared<Output>();
  const Output period =
      weights("period", {units},
              {.initializer = exponential_initializer(options.period_init_min, options.period_init_max, drawn)});
  const Output phase = weights("phase", {units}, {.initializer = phase_initializer(drawn, period)});
  const Output ratio_on =
      weights("ratio_on", {units},
              {.initializer = constant_initializer(options.ratio_on), .trainable = options.trainable_ratio_on});
  const Output cycle = cycle_ratio(time, phase, period);
  const Output up = 2 * cycle / ratio_on;
  const Output down = 2 - up, closed = options.leak * cycle;
  Output k = where(less(cycle, ratio_on), down, closed);
  k = where(less(cycle, 0.5f * ratio_on), up, k);
  auto blended = [&](const Output& now, const Output& before) {
    const Output taken = k * now;
    return taken + (1 - k) * before;
  };
  const Output c = blended(open_c, c_before), h = blended(open_h, h_before);
  return {h, {c, h}};
}

PhasedLSTMCell::PhasedLSTMCell(int64_t units, const PhasedLSTMOptions& options)
    : Cell("phased_lstm_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

Step PhasedLSTMCell::call(const Output& inputs, const State& state) {
  const int64_t depth = depth_of(inputs.shape());
  if (depth < 2) throw invalid_argument("the inputs are the time and what there is at it; their depth is {}", depth);
  const std::vector<Output> parts = split(inputs, {int64_t{1}, depth - 1}, 1);
  return phased_lstm_step(parts[0], parts[1], state, units_, options_, own_weights());
}

}  // namespace weir::rnn
