#include "weir/grid_cells.h"

#include <algorithm>
#include <numeric>

#include "nn/rnn/cell_parts.h"

// LSTMs over frequencies. The nodes come in the order in which TensorFlow makes them.
namespace weir::rnn {
namespace {

// The windows of `feature_size` frequencies, `skip` apart, of `size` frequencies from `first` on.
std::vector<Output> windows_of(const Output& inputs, int64_t first, int64_t size, int64_t feature_size, int64_t skip) {
  std::vector<Output> windows;
  for (int64_t at = 0; at + feature_size <= size; at += skip) {
    windows.push_back(slice(inputs, {0, first + at}, {-1, feature_size}));
  }
  return windows;
}

Output zeros_beside(const Output& inputs, int64_t units) {
  const int64_t batch = inputs.shape()[0];
  const Output rows = batch == kUnknown ? subscript(shape(inputs), {0}) : Output();
  Graph& graph = inputs.graph();
  const Output sizes = rows ? stack({rows, graph.constant(Tensor(static_cast<int32_t>(units)))})
                            : stack({graph.constant(Tensor(static_cast<int32_t>(batch))),
                                     graph.constant(Tensor(static_cast<int32_t>(units)))});
  return zeros(graph, sizes, inputs.dtype());
}

void check_windows(int64_t feature_size, int64_t skip) {
  if (feature_size < 1 || skip < 1) {
    throw invalid_argument("feature_size ({}) and frequency_skip ({}) must be positive", feature_size, skip);
  }
}

// The way through the windows of one block after the other.
class Grid {
 public:
  Grid(int64_t units, const GridLSTMOptions& options, std::string scope, const WeightSource& weights)
      : units_(units), options_(options), scope_(std::move(scope)), weights_(weights) {}

  // Goes through a block. `state` are c and m of each window; outputs and states join the lists.
  void run(const std::vector<Output>& windows, size_t block, State::const_iterator state, std::vector<Output>& outputs,
           State& states) const {
    const bool shared = options_.share_time_frequency_weights;
    const int64_t depth = depth_of(windows[0].shape());
    const Linear by_frequency = linear_of(block, "f", depth);
    const Linear by_time = shared ? by_frequency : linear_of(block, "t", depth);
    Looks frequency_looks, time_looks;
    if (options_.use_peepholes) {
      frequency_looks = looks_of(block, "freq");
      time_looks = shared ? frequency_looks : looks_of(block, "time");
    }
    Output m_frequency = zeros_beside(windows[0], units_), c_frequency = zeros_beside(windows[0], units_);
    for (const Output& window : windows) {
      const Output &c_time = *state, &m_time = *(state + 1);
      state += 2;
      const Output joined = concat({window, m_time, m_frequency}, 1);
      const Gates frequency = gates_of(joined, by_frequency);
      const Gates time = shared ? frequency : gates_of(joined, by_time);
      const Output new_frequency = memory(frequency, frequency_looks, c_frequency, c_frequency, c_time);
      const Output new_time = memory(time, time_looks, c_time, c_frequency, c_time);
      m_frequency = shown(frequency.o, frequency_looks, new_frequency, new_frequency, new_time);
      const Output new_m_time = shown(time.o, time_looks, new_time, new_frequency, new_time);
      c_frequency = new_frequency;
      states.insert(states.end(), {new_time, new_m_time});
      outputs.insert(outputs.end(), {new_m_time, m_frequency});
    }
  }

 private:
  struct Linear {
    Output kernel, bias;
  };
  struct Look {
    Output frequency, time;
  };
  struct Looks {  // peepholes, where there are any
    Look f, i, o;
  };
  struct Gates {
    Output i, j, f, o;  // no f where it is coupled to i
  };

  int parts() const { return options_.couple_input_forget_gates ? 3 : 4; }

  Linear linear_of(size_t block, const char* axis, int64_t depth) const {
    const std::string which = std::string(axis) + "_" + std::to_string(block);
    const int64_t columns = parts() * units_;
    Linear made;
    made.kernel = sharded(weights_, scope_ + "W_" + which, {depth + 2 * units_, columns}, options_.num_unit_shards);
    made.bias = weights_(scope_ + "B_" + which, {columns}, {.initializer = zeros_initializer()});
    return made;
  }

  Looks looks_of(size_t block, const char* axis) const {
    auto look = [&](const char* gate) {
      const std::string name = scope_ + "W_" + gate + "_diag_" + axis;
      Look made;
      made.frequency = weights_(name + "f_" + std::to_string(block), {units_}, {});
      made.time = weights_(name + "t_" + std::to_string(block), {units_}, {});
      return made;
    };
    Looks made;
    if (!options_.couple_input_forget_gates) made.f = look("F");
    made.i = look("I");
    made.o = look("O");
    return made;
  }

  Gates gates_of(const Output& joined, const Linear& by) const {
    const std::vector<Output> gates = split(nn::bias_add(matmul(joined, by.kernel), by.bias), parts(), 1);
    if (options_.couple_input_forget_gates) return {gates[0], gates[1], {}, gates[2]};
    return {gates[0], gates[1], gates[2], gates[3]};
  }

  static Output looking(const Output& gate, const Look& look, const Output& c_frequency, const Output& c_time) {
    if (!look.time) return gate;
    const Output half = gate + look.frequency * c_frequency;
    return half + look.time * c_time;
  }

  Output memory(const Gates& gates, const Looks& looks, const Output& before, const Output& c_frequency,
                const Output& c_time) const {
    const Output i = sigmoid(looking(gates.i, looks.i, c_frequency, c_time));
    const Output f = gates.f ? sigmoid(looking(gates.f + options_.forget_bias, looks.f, c_frequency, c_time)) : 1.f - i;
    const Output kept = f * before;
    return clipped(kept + i * tanh(gates.j), options_.cell_clip);
  }

  static Output shown(const Output& o, const Looks& looks, const Output& c, const Output& c_frequency,
                      const Output& c_time) {
    const Output out = sigmoid(looking(o, looks.o, c_frequency, c_time));
    return out * tanh(c);
  }

  int64_t units_;
  const GridLSTMOptions& options_;
  std::string scope_;
  const WeightSource& weights_;
};

// For each block its windows; `offset` moves them, and zeros come in from that side.
std::vector<std::vector<Output>> blocks_of(const Output& given, const GridLSTMOptions& options, int64_t offset = 0) {
  const int64_t size = depth_of(given.shape());
  check_windows(options.feature_size, options.frequency_skip);
  Output inputs = given;
  if (offset) {
    const auto before = static_cast<int32_t>(std::max<int64_t>(-offset, 0)),
               after = static_cast<int32_t>(std::max<int64_t>(offset, 0));
    inputs = pad(given, given.graph().constant(Tensor::from<int32_t>({0, 0, before, after}, {2, 2})));
    offset = after;
  }
  const std::vector<int64_t> starts =
      options.start_freqindex_list.empty() ? std::vector<int64_t>{0} : options.start_freqindex_list;
  const std::vector<int64_t> ends =
      options.end_freqindex_list.empty() ? std::vector<int64_t>{size} : options.end_freqindex_list;
  if (starts.size() != ends.size()) {
    throw invalid_argument("Length of start and end freqindex_list does not match {} {}", starts.size(), ends.size());
  }
  if (options.num_frequency_blocks.size() != starts.size()) {
    throw invalid_argument("Length of num_frequency_blocks is not {}, but instead is {}", starts.size(),
                           options.num_frequency_blocks.size());
  }
  std::vector<std::vector<Output>> blocks;
  for (size_t block = 0; block < starts.size(); ++block) {
    blocks.push_back(windows_of(inputs, starts[block] + offset, ends[block] - starts[block], options.feature_size,
                                options.frequency_skip));
    const auto wanted = options.num_frequency_blocks[block], found = static_cast<int64_t>(blocks.back().size());
    if (found != wanted || found == 0) {
      throw invalid_argument(
          "Invalid num_frequency_blocks, requires {} but gets {}, please check the input size and filter config are "
          "correct.",
          wanted, found);
    }
  }
  return blocks;
}

std::vector<Shape> sizes_of(int64_t units, int64_t count) {
  return std::vector<Shape>(static_cast<size_t>(count), Shape{units});
}

// Through all blocks from that state on; gives where the state goes on.
State::const_iterator run_blocks(const Grid& grid, const std::vector<std::vector<Output>>& blocks,
                                 State::const_iterator state, std::vector<Output>& outputs, State& states) {
  for (size_t block = 0; block < blocks.size(); ++block) {
    grid.run(blocks[block], block, state, outputs, states);
    state += static_cast<ptrdiff_t>(2 * blocks[block].size());
  }
  return state;
}

void check_state(const State& state, size_t wanted) {
  if (state.size() == wanted) return;
  throw invalid_argument("a state of c and m of each window has {} tensors, not {}", wanted, state.size());
}

size_t windows_in(const GridLSTMOptions& options) {
  return static_cast<size_t>(
      std::accumulate(options.num_frequency_blocks.begin(), options.num_frequency_blocks.end(), int64_t{0}));
}

}  // namespace

Step time_freq_lstm_step(const Output& inputs, const Output& state, int64_t units, const TimeFreqOptions& options,
                         const WeightSource& weights) {
  check_windows(options.feature_size, options.frequency_skip);
  const std::vector<Output> windows =
      windows_of(inputs, 0, depth_of(inputs.shape()), options.feature_size, options.frequency_skip);
  if (windows.empty()) throw invalid_argument("no window of {} fits into the inputs", options.feature_size);
  const Output kernel = sharded(weights, "W", {options.feature_size + 2 * units, 4 * units}, options.num_unit_shards);
  const Output bias = weights("B", {4 * units}, {.initializer = zeros_initializer()});
  Output w_f, w_i, w_o;
  if (options.use_peepholes) {
    w_f = weights("W_F_diag", {units}, {});
    w_i = weights("W_I_diag", {units}, {});
    w_o = weights("W_O_diag", {units}, {});
  }
  Output below = zeros_beside(inputs, units);
  std::vector<Output> states, outputs;
  for (size_t at = 0; at < windows.size(); ++at) {
    const auto place = static_cast<int64_t>(2 * at) * units;
    Output c = slice(state, {0, place}, {-1, units});
    const Output h = slice(state, {0, place + units}, {-1, units});
    const Output joined = concat({windows[at], h, below}, 1);
    const std::vector<Output> gates = split(nn::bias_add(matmul(joined, kernel), bias), 4, 1);
    Output i = gates[0], f = gates[2] + options.forget_bias;
    if (w_f) {
      f = f + w_f * c;
      i = i + w_i * c;
    }
    const Output kept = sigmoid(f) * c, in = sigmoid(i);
    c = clipped(kept + in * tanh(gates[1]), options.cell_clip);
    const Output out = sigmoid(w_o ? gates[3] + w_o * c : gates[3]);
    below = out * tanh(c);
    states.insert(states.end(), {c, below});
    outputs.push_back(below);
  }
  const Output output = concat(outputs, 1);
  return {output, {concat(states, 1)}};
}

Step grid_lstm_step(const Output& inputs, const State& state, int64_t units, const GridLSTMOptions& options,
                    const WeightSource& weights) {
  check_state(state, 2 * windows_in(options));
  std::vector<Output> outputs;
  State states;
  run_blocks(Grid(units, options, "", weights), blocks_of(inputs, options), state.begin(), outputs, states);
  return {concat(outputs, 1), std::move(states)};
}

Step bidirectional_grid_lstm_step(const Output& inputs, const State& state, int64_t units,
                                  const GridLSTMOptions& options, const WeightSource& weights) {
  check_state(state, 4 * windows_in(options));
  std::vector<std::vector<Output>> up = blocks_of(inputs, options);
  std::vector<std::vector<Output>> down =
      options.backward_slice_offset ? blocks_of(inputs, options, options.backward_slice_offset) : up;
  for (std::vector<Output>& windows : down) std::reverse(windows.begin(), windows.end());
  std::vector<Output> outputs;
  State states;
  auto next = state.begin();
  for (const auto& [scope, blocks] : {std::pair("fwd", &up), std::pair("bwd", &down)}) {
    Scope names = inputs.graph().name_scope(scope);
    next = run_blocks(Grid(units, options, std::string(scope) + "/", weights), *blocks, next, outputs, states);
  }
  return {concat(outputs, 1), std::move(states)};
}

TimeFreqLSTMCell::TimeFreqLSTMCell(int64_t units, int64_t input_size, const TimeFreqOptions& options)
    : Cell("time_freq_lstm_cell", {.name = options.name, .reuse = options.reuse}),
      units_(units),
      windows_((check_windows(options.feature_size, options.frequency_skip),
                (input_size - options.feature_size) / options.frequency_skip + 1)),
      options_(options) {
  if (input_size < options.feature_size) {
    throw invalid_argument("no window of {} fits into inputs of {}", options.feature_size, input_size);
  }
  set_input_spec({.ndim = 2, .axes = {{-1, input_size}}});
}

Step TimeFreqLSTMCell::call(const Output& inputs, const State& state) {
  return time_freq_lstm_step(inputs, state[0], units_, options_, own_weights());
}

GridLSTMCell::GridLSTMCell(int64_t units, const GridLSTMOptions& options)
    : GridLSTMCell("grid_lstm_cell", units, options) {}

GridLSTMCell::GridLSTMCell(std::string kind, int64_t units, const GridLSTMOptions& options)
    : Cell(std::move(kind), {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  if (options.num_frequency_blocks.empty()) throw invalid_argument("Must specify num_frequency_blocks");
}

int64_t GridLSTMCell::windows() const { return static_cast<int64_t>(windows_in(options_)); }
std::vector<Shape> GridLSTMCell::state_size() const { return sizes_of(units_, 2 * windows()); }
Shape GridLSTMCell::output_size() const { return {2 * units_ * windows()}; }

Step GridLSTMCell::call(const Output& inputs, const State& state) {
  return grid_lstm_step(inputs, state, units_, options_, own_weights());
}

BidirectionalGridLSTMCell::BidirectionalGridLSTMCell(int64_t units, const GridLSTMOptions& options)
    : GridLSTMCell("bidirectional_grid_lstm_cell", units, options) {}

std::vector<Shape> BidirectionalGridLSTMCell::state_size() const { return sizes_of(units_, 4 * windows()); }
Shape BidirectionalGridLSTMCell::output_size() const { return {4 * units_ * windows()}; }

Step BidirectionalGridLSTMCell::call(const Output& inputs, const State& state) {
  return bidirectional_grid_lstm_step(inputs, state, units_, options_, own_weights());
}

}  // namespace weir::rnn
