#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/rnn.h"

// The cells and what stands around cells. Names, shapes and the order of gates in the variables are TensorFlow 1.15's.
namespace weir::rnn {

using Activation = std::function<Output(const Output&)>;  // empty: tanh

struct CellOptions {
  Activation activation = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};

// output = state = activation([input, state] kernel + bias)
class WEIR_API BasicRNNCell : public Cell {
 public:
  explicit BasicRNNCell(int64_t units, const CellOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  Activation activation_;
  Variable kernel_, bias_;
};

struct GRUOptions {
  Activation activation = {};
  Initializer kernel_initializer = {}, bias_initializer = {};  // of the bias: ones for the gates, zeros otherwise
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
class WEIR_API GRUCell : public Cell {
 public:
  explicit GRUCell(int64_t units, const GRUOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  GRUOptions options_;
  Variable gate_kernel_, gate_bias_, candidate_kernel_, candidate_bias_;
};

struct LSTMOptions {
  bool use_peepholes = false;
  std::optional<float> cell_clip = {};
  Initializer initializer = {};
  std::optional<int64_t> num_proj = {};  // the output is projected to so many numbers
  std::optional<float> proj_clip = {};
  float forget_bias = 1;
  Activation activation = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// The state is c and h.
class WEIR_API LSTMCell : public Cell {
 public:
  explicit LSTMCell(int64_t units, const LSTMOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}, output_size()}; }
  Shape output_size() const override { return {options_.num_proj.value_or(units_)}; }

 protected:
  LSTMCell(std::string kind, int64_t units, const LSTMOptions& options);
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

  int64_t units_;
  LSTMOptions options_;
  Variable kernel_, bias_, w_f_, w_i_, w_o_, projection_;
};

struct BasicLSTMOptions {
  float forget_bias = 1;
  Activation activation = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
class WEIR_API BasicLSTMCell : public LSTMCell {
 public:
  explicit BasicLSTMCell(int64_t units, const BasicLSTMOptions& options = {});

 protected:
  Step call(const Output& inputs, const State& state) override;
};

struct LSTMBlockOptions {
  float forget_bias = 1;
  std::optional<float> cell_clip = {};
  bool use_peephole = false;
  std::string name = "lstm_cell";
  std::optional<Reuse> reuse = {};
};
// An LSTM as one operation a step; its gates stand in another order (input, candidate, forget, output).
class WEIR_API LSTMBlockCell : public Cell {
 public:
  explicit LSTMBlockCell(int64_t units, const LSTMBlockOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}, {units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  LSTMBlockOptions options_;
  Variable kernel_, bias_, w_i_, w_f_, w_o_;
};

struct LayerNormLSTMOptions {
  float forget_bias = 1;
  Activation activation = {};
  bool layer_norm = true;
  float norm_gain = 1, norm_shift = 0;
  In dropout_keep_prob = 1.f;  // of the candidate, so that the memory is left alone
  std::optional<int64_t> dropout_seed = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// A basic LSTM whose gates and memory are normalised (Ba et al., 2016).
class WEIR_API LayerNormBasicLSTMCell : public Cell {
 public:
  explicit LayerNormBasicLSTMCell(int64_t units, const LayerNormLSTMOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}, {units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  LayerNormLSTMOptions options_;
};

struct ConvLSTMOptions {
  bool use_bias = true, skip_connection = false;  // the latter: the inputs beside the outputs
  float forget_bias = 1;
  std::string name = {};
};
// An LSTM whose inputs and states are signals [width, channels], pictures [height, width, channels] or volumes
// [depth, height, width, channels] (Shi et al., 2015). Throws InvalidArgument when the kernel has another rank.
class WEIR_API ConvLSTMCell : public Cell {
 public:
  ConvLSTMCell(const Shape& input_shape, int64_t output_channels, const std::vector<int64_t>& kernel_shape,
               const ConvLSTMOptions& options = {});
  std::vector<Shape> state_size() const override { return {size_of(channels_), output_size()}; }
  Shape output_size() const override;

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  Shape size_of(int64_t channels) const;
  Shape input_shape_;
  int64_t channels_;
  std::vector<int64_t> kernel_shape_;
  ConvLSTMOptions options_;
};

// Cells on top of each other: the output of one is the input of the next.
class WEIR_API MultiRNNCell : public Cell {
 public:
  explicit MultiRNNCell(std::vector<CellPtr> cells);  // throws InvalidArgument when there are none
  std::vector<Shape> state_size() const override;
  Shape output_size() const override { return cells_.back()->output_size(); }
  std::vector<bool> memories() const override;
  State zero_state(Graph& graph, const In& batch_size, DType dtype) const override;

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  std::vector<CellPtr> cells_;
};

// A cell around another, of its sizes unless it says otherwise.
class WEIR_API Wrapper : public Cell {
 public:
  std::vector<Shape> state_size() const override { return cell_->state_size(); }
  Shape output_size() const override { return cell_->output_size(); }
  std::vector<bool> memories() const override { return cell_->memories(); }
  State zero_state(Graph& graph, const In& batch_size, DType dtype) const override;

 protected:
  Wrapper(std::string kind, CellPtr cell);
  CellPtr cell_;
};

struct DropoutOptions {
  In input_keep_prob = 1.f, output_keep_prob = 1.f, state_keep_prob = 1.f;  // the memory c of an LSTM stays
  bool variational_recurrent = false;    // what is dropped is drawn once for all steps (Gal and Ghahramani, 2015)
  std::optional<Shape> input_size = {};  // without the batch; needed where inputs are dropped so
  DType dtype = float32;                 // of what is dropped so
  std::optional<int64_t> seed = {};
};
// Dropout of inputs, outputs or states. Throws InvalidArgument for a probability that is none, and at the first call
// where the size of the inputs is missing.
class WEIR_API DropoutWrapper : public Wrapper {
 public:
  DropoutWrapper(CellPtr cell, const DropoutOptions& options);

 protected:
  bool has_scope() const override { return false; }
  Step call(const Output& inputs, const State& state) override;

 private:
  Output dropped(const Output& x, const In& keep_prob, std::string_view part, size_t index) const;
  void draw(Graph& graph);
  DropoutOptions options_;
  std::map<std::string, std::vector<Output>, std::less<>> noise_;
};

// What it is made of. TensorFlow's seed for a tensor of the "input", "state" or "output".
WEIR_API std::optional<int64_t> dropout_seed(std::optional<int64_t> seed, std::string_view part, size_t index);
// Numbers [1, size...] that are drawn once in a run, outside of loops.
WEIR_API Output variational_noise(Graph& graph, const Shape& size, DType dtype, std::optional<int64_t> seed);
WEIR_API Output variational_dropout(const Output& x, const Output& noise, const In& keep_prob);

// Adds the inputs to the outputs.
class WEIR_API ResidualWrapper : public Wrapper {
 public:
  explicit ResidualWrapper(CellPtr cell) : Wrapper("residual_wrapper", std::move(cell)) {}

 protected:
  bool has_scope() const override { return false; }
  Step call(const Output& inputs, const State& state) override;
};

class WEIR_API DeviceWrapper : public Wrapper {
 public:
  DeviceWrapper(CellPtr cell, std::string device)
      : Wrapper("device_wrapper", std::move(cell)), device_(std::move(device)) {}

 protected:
  bool has_scope() const override { return false; }
  Step call(const Output& inputs, const State& state) override;

 private:
  std::string device_;
};

// Looks the inputs, numbers of classes, up in a table "embedding" before they go to the cell.
class WEIR_API EmbeddingWrapper : public Wrapper {
 public:
  EmbeddingWrapper(CellPtr cell, int64_t classes, int64_t size, const Initializer& initializer = {});

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t classes_, size_;
  Initializer initializer_;
  Variable embedding_;
};

// A linear map behind the cell, and one before it.
class WEIR_API OutputProjectionWrapper : public Wrapper {
 public:
  OutputProjectionWrapper(CellPtr cell, int64_t size, Activation activation = {});
  Shape output_size() const override { return {size_}; }

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t size_;
  Activation activation_;
  Variable kernel_, bias_;
};
class WEIR_API InputProjectionWrapper : public Wrapper {
 public:
  InputProjectionWrapper(CellPtr cell, int64_t size, Activation activation = {});

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t size_;
  Activation activation_;
  Variable kernel_, bias_;
};

// The same, made and shared.
inline CellPtr basic_rnn(int64_t units, const CellOptions& o = {}) { return std::make_shared<BasicRNNCell>(units, o); }
inline CellPtr gru(int64_t units, const GRUOptions& o = {}) { return std::make_shared<GRUCell>(units, o); }
inline CellPtr lstm(int64_t units, const LSTMOptions& o = {}) { return std::make_shared<LSTMCell>(units, o); }
inline CellPtr basic_lstm(int64_t units, const BasicLSTMOptions& o = {}) {
  return std::make_shared<BasicLSTMCell>(units, o);
}
inline CellPtr conv_lstm(const Shape& input_shape, int64_t output_channels, const std::vector<int64_t>& kernel_shape,
                         const ConvLSTMOptions& o = {}) {
  return std::make_shared<ConvLSTMCell>(input_shape, output_channels, kernel_shape, o);
}
inline CellPtr multi(std::vector<CellPtr> cells) { return std::make_shared<MultiRNNCell>(std::move(cells)); }
inline CellPtr dropout(CellPtr cell, const DropoutOptions& o) {
  return std::make_shared<DropoutWrapper>(std::move(cell), o);
}
inline CellPtr residual(CellPtr cell) { return std::make_shared<ResidualWrapper>(std::move(cell)); }

// The arithmetic of the cells, for those that keep their weights elsewhere.
struct LSTMWeights {
  Output kernel, bias;
  Output w_f = {}, w_i = {}, w_o = {};  // peepholes, or nothing
  Output projection = {};
};
WEIR_API Step basic_rnn_step(const Output& inputs, const Output& state, const Output& kernel, const Output& bias,
                             const Activation& activation);
WEIR_API Step gru_step(const Output& inputs, const Output& state, const Output& gate_kernel, const Output& gate_bias,
                       const Output& candidate_kernel, const Output& candidate_bias, const Activation& activation);
WEIR_API Step basic_lstm_step(const Output& inputs, const State& state, const LSTMWeights& weights, float forget_bias,
                              const Activation& activation);
WEIR_API Step lstm_step(const Output& inputs, const State& state, const LSTMWeights& weights,
                        const LSTMOptions& options);
WEIR_API Step conv_lstm_step(const Output& inputs, const State& state, int64_t output_channels,
                             const std::vector<int64_t>& kernel_shape, const ConvLSTMOptions& options,
                             const WeightSource& weights);

}  // namespace weir::rnn
