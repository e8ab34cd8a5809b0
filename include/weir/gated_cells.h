#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weir/rnn_cells.h"

// Cells of tf.contrib.rnn with gates of their own: coupled, normalised, with a clock, in groups, through depth. Their
// variables are made in the order in which the step asks for them, as TensorFlow 1.15 makes them. The options mean what
// they mean in rnn_cells.h.
namespace weir::rnn {

// What LSTMs have in common whose options say to how many numbers the output is projected. The state is c and h.
template <class Options>
class ProjectedLSTM : public Cell {
 public:
  std::vector<Shape> state_size() const override { return {{units_}, output_size()}; }
  Shape output_size() const override { return {options_.num_proj.value_or(units_)}; }

 protected:
  ProjectedLSTM(const char* kind, int64_t units, const Options& options)
      : Cell(kind, {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {}

  int64_t units_;
  Options options_;
};

struct CoupledLSTMOptions {
  bool use_peepholes = false;
  std::optional<int64_t> num_proj = {};
  std::optional<float> proj_clip = {};
  int64_t num_unit_shards = 1, num_proj_shards = 1;  // the rows of a matrix lie in so many variables
  float forget_bias = 1;
  Activation activation = {};
  bool layer_norm = false;
  float norm_gain = 1, norm_shift = 0;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// An LSTM that takes in as much as it forgets (Greff et al., 2015).
class WEIR_API CoupledInputForgetGateLSTMCell : public ProjectedLSTM<CoupledLSTMOptions> {
 public:
  explicit CoupledInputForgetGateLSTMCell(int64_t units, const CoupledLSTMOptions& options = {});

 protected:
  Step call(const Output& inputs, const State& state) override;
};

struct LayerNormProjectedOptions {
  bool use_peepholes = false;
  std::optional<float> cell_clip = {};
  Initializer initializer = {};
  std::optional<int64_t> num_proj = {};
  std::optional<float> proj_clip = {};
  float forget_bias = 1;
  Activation activation = {};
  bool layer_norm = false;
  float norm_gain = 1, norm_shift = 0;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// LSTMCell whose gates and memory may be normalised.
class WEIR_API LayerNormLSTMCell : public ProjectedLSTM<LayerNormProjectedOptions> {
 public:
  explicit LayerNormLSTMCell(int64_t units, const LayerNormProjectedOptions& options = {});

 protected:
  Step call(const Output& inputs, const State& state) override;
};

struct WeightNormOptions {
  bool norm = true;
  bool use_peepholes = false;
  std::optional<float> cell_clip = {};
  Initializer initializer = {};
  std::optional<int64_t> num_proj = {};
  std::optional<float> proj_clip = {};
  float forget_bias = 1;
  Activation activation = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// LSTMCell whose weights are directions and lengths (Salimans and Kingma, 2016).
class WEIR_API WeightNormLSTMCell : public ProjectedLSTM<WeightNormOptions> {
 public:
  explicit WeightNormLSTMCell(int64_t units, const WeightNormOptions& options = {});

 protected:
  Step call(const Output& inputs, const State& state) override;
};

struct PhasedLSTMOptions {
  bool use_peepholes = false;
  float leak = 0.001f;    // how much of a closed unit changes
  float ratio_on = 0.1f;  // the share of its period in which a unit is open; learned unless told otherwise
  bool trainable_ratio_on = true;
  float period_init_min = 1, period_init_max = 1000;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// An LSTM whose units are open only during a part of their own period (Neil et al., 2016). Its inputs [batch, 1 + size]
// begin with the time.
class WEIR_API PhasedLSTMCell : public Cell {
 public:
  explicit PhasedLSTMCell(int64_t units, const PhasedLSTMOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}, {units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  PhasedLSTMOptions options_;
};

struct GroupLSTMOptions {
  Initializer initializer = {};
  std::optional<int64_t> num_proj = {};
  int64_t number_of_groups = 1;
  float forget_bias = 1;
  Activation activation = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// An LSTM in groups that do not see each other (Kuchaiev and Ginsburg, 2017). Throws InvalidArgument where a size is
// not divisible by their number.
class WEIR_API GLSTMCell : public ProjectedLSTM<GroupLSTMOptions> {
 public:
  explicit GLSTMCell(int64_t units, const GroupLSTMOptions& options = {});

 protected:
  Step call(const Output& inputs, const State& state) override;
};

struct IntersectionOptions {
  std::optional<int64_t> num_in_proj = {};  // needed where inputs have another size than the units
  Initializer initializer = {};
  float forget_bias = 1;
  Activation y_activation = {};  // of what is given; by default relu
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// A cell with one gate through time and one through depth (Collins et al., 2016).
class WEIR_API IntersectionRNNCell : public Cell {
 public:
  explicit IntersectionRNNCell(int64_t units, const IntersectionOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  IntersectionOptions options_;
};

// The same, made and shared.
inline CellPtr coupled_lstm(int64_t units, const CoupledLSTMOptions& o = {}) {
  return std::make_shared<CoupledInputForgetGateLSTMCell>(units, o);
}
inline CellPtr layer_norm_lstm(int64_t units, const LayerNormProjectedOptions& o = {}) {
  return std::make_shared<LayerNormLSTMCell>(units, o);
}
inline CellPtr phased_lstm(int64_t units, const PhasedLSTMOptions& o = {}) {
  return std::make_shared<PhasedLSTMCell>(units, o);
}
inline CellPtr group_lstm(int64_t units, const GroupLSTMOptions& o = {}) {
  return std::make_shared<GLSTMCell>(units, o);
}
inline CellPtr intersection(int64_t units, const IntersectionOptions& o = {}) {
  return std::make_shared<IntersectionRNNCell>(units, o);
}

// The arithmetic of the cells, with weights from wherever the caller keeps them.
WEIR_API Step coupled_lstm_step(const Output& inputs, const State& state, int64_t units,
                                const CoupledLSTMOptions& options, const WeightSource& weights);
WEIR_API Step layer_norm_basic_lstm_step(const Output& inputs, const State& state, int64_t units,
                                         const LayerNormLSTMOptions& options, const WeightSource& weights);
WEIR_API Step layer_norm_lstm_step(const Output& inputs, const State& state, int64_t units,
                                   const LayerNormProjectedOptions& options, const WeightSource& weights);
WEIR_API Step weight_norm_lstm_step(const Output& inputs, const State& state, int64_t units,
                                    const WeightNormOptions& options, const WeightSource& weights);
// `time` [batch, 1], of any floating type.
WEIR_API Step phased_lstm_step(const Output& time, const Output& inputs, const State& state, int64_t units,
                               const PhasedLSTMOptions& options, const WeightSource& weights);
WEIR_API Step group_lstm_step(const Output& inputs, const State& state, int64_t units, const GroupLSTMOptions& options,
                              const WeightSource& weights);
WEIR_API Step intersection_step(const Output& inputs, const Output& state, int64_t units,
                                const IntersectionOptions& options, const WeightSource& weights);

}  // namespace weir::rnn
