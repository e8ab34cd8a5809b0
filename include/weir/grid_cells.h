#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weir/rnn_cells.h"

// LSTMs that run over frequencies as well as over time (Li et al., 2015 and 2016). The options mean what they mean in
// rnn_cells.h.
namespace weir::rnn {

struct TimeFreqOptions {
  bool use_peepholes = false;
  std::optional<float> cell_clip = {};
  int64_t num_unit_shards = 1;  // the rows of the matrix lie in so many variables
  float forget_bias = 1;
  int64_t feature_size = 1;    // the frequencies in a window
  int64_t frequency_skip = 1;  // from one window to the next
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// An LSTM that goes through the windows of inputs of `input_size` frequencies. The state is c and h of each window,
// side by side, and the output h of each.
class WEIR_API TimeFreqLSTMCell : public Cell {
 public:
  TimeFreqLSTMCell(int64_t units, int64_t input_size, const TimeFreqOptions& options = {});
  std::vector<Shape> state_size() const override { return {{2 * units_ * windows_}}; }
  Shape output_size() const override { return {units_ * windows_}; }

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_, windows_;
  TimeFreqOptions options_;
};

struct GridLSTMOptions {
  bool use_peepholes = false;
  bool share_time_frequency_weights = false;
  std::optional<float> cell_clip = {};
  int64_t num_unit_shards = 1;
  float forget_bias = 1;
  int64_t feature_size = 1, frequency_skip = 1;  // a window, and from one to the next
  // How many windows each block has, and where it begins and ends among the frequencies; by default one block of all.
  std::vector<int64_t> num_frequency_blocks = {};
  std::vector<int64_t> start_freqindex_list = {}, end_freqindex_list = {};
  bool couple_input_forget_gates = false;
  int64_t backward_slice_offset = 0;  // both ways: how far the windows of the way back are moved
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// A grid of LSTMs, one along time and one along frequencies, in blocks of windows. The state is c and m of each window.
class WEIR_API GridLSTMCell : public Cell {
 public:
  explicit GridLSTMCell(int64_t units, const GridLSTMOptions& options);
  std::vector<Shape> state_size() const override;
  Shape output_size() const override;
  std::vector<bool> memories() const override { return std::vector<bool>(state_size().size()); }

 protected:
  GridLSTMCell(std::string kind, int64_t units, const GridLSTMOptions& options);
  Step call(const Output& inputs, const State& state) override;
  int64_t windows() const;

  int64_t units_;
  GridLSTMOptions options_;
};
// The same that goes through the frequencies upwards and, with weights of its own, downwards. The states of the way up
// come first.
class WEIR_API BidirectionalGridLSTMCell : public GridLSTMCell {
 public:
  explicit BidirectionalGridLSTMCell(int64_t units, const GridLSTMOptions& options);
  std::vector<Shape> state_size() const override;
  Shape output_size() const override;

 protected:
  Step call(const Output& inputs, const State& state) override;
};

// The same, made and shared.
inline CellPtr time_freq_lstm(int64_t units, int64_t input_size, const TimeFreqOptions& o = {}) {
  return std::make_shared<TimeFreqLSTMCell>(units, input_size, o);
}
inline CellPtr grid_lstm(int64_t units, const GridLSTMOptions& o) { return std::make_shared<GridLSTMCell>(units, o); }

// The arithmetic of the cells, with weights from wherever the caller keeps them.
WEIR_API Step time_freq_lstm_step(const Output& inputs, const Output& state, int64_t units,
                                  const TimeFreqOptions& options, const WeightSource& weights);
WEIR_API Step grid_lstm_step(const Output& inputs, const State& state, int64_t units, const GridLSTMOptions& options,
                             const WeightSource& weights);
WEIR_API Step bidirectional_grid_lstm_step(const Output& inputs, const State& state, int64_t units,
                                           const GridLSTMOptions& options, const WeightSource& weights);

}  // namespace weir::rnn
