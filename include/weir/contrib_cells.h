#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weir/rnn_cells.h"

// More cells, those of tf.contrib.rnn that programs use: block-fused, found by a search, with one gate, with
// independent units, and what lets a cell look at its own past. Names, shapes and the order of gates are
// TensorFlow 1.15's.
namespace weir::rnn {

struct GRUBlockOptions {
  bool gru_names = false;  // true: variables are named as GRUCell's, so that checkpoints fit both
  std::string name = "gru_cell";
  std::optional<Reuse> reuse = {};
};
// A GRU as one operation a step.
class WEIR_API GRUBlockCell : public Cell {
 public:
  explicit GRUBlockCell(int64_t units, const GRUBlockOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  bool gru_names_;
  Variable gate_kernel_, gate_bias_, candidate_kernel_, candidate_bias_;
};

struct FusedOptions {
  State initial_state = {};                // c and h; by default zeros
  std::optional<In> sequence_length = {};  // behind its end a sequence's outputs are zeros
};
// An LSTM along a whole sequence [time, batch, size] as one operation. Gates in the order of LSTMBlockCell.
class WEIR_API LSTMBlockFusedCell : public layers::Layer {
 public:
  explicit LSTMBlockFusedCell(int64_t units, const LSTMBlockOptions& options = {.name = "lstm_fused_cell"});
  // Outputs [time, batch, units], and c and h of each sequence at its own end.
  Sequence operator()(const Output& inputs, const FusedOptions& options = {}, In::Where where = In::Where::current());

 protected:
  void build(const Shape& inputs) override;
  Output call(const Output& inputs) override;

 private:
  Sequence run(const Output& inputs, const FusedOptions& options);
  int64_t units_;
  LSTMBlockOptions options_;
  Variable kernel_, bias_, w_i_, w_f_, w_o_;
};

struct NASOptions {
  std::optional<int64_t> num_proj = {};
  bool use_bias = false;
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// The cell that a search over architectures found (Zoph and Le, 2016). The state is c and m.
class WEIR_API NASCell : public Cell {
 public:
  explicit NASCell(int64_t units, const NASOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}, output_size()}; }
  Shape output_size() const override { return {options_.num_proj.value_or(units_)}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  NASOptions options_;
  Variable recurrent_kernel_, kernel_, bias_, projection_;
};

struct UGRNNOptions {
  Initializer initializer = {};
  float forget_bias = 1;
  Activation activation = {};
  std::string name = {};
  std::optional<Reuse> reuse = {};
};
// A cell with a single gate, between a plain one and a GRU (Collins et al., 2016).
class WEIR_API UGRNNCell : public Cell {
 public:
  explicit UGRNNCell(int64_t units, const UGRNNOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  UGRNNOptions options_;
  Variable kernel_, bias_;
};

// Simple recurrent units: the products do not depend on the step before (Lei et al., 2017).
class WEIR_API SRUCell : public Cell {
 public:
  explicit SRUCell(int64_t units, const CellOptions& options = {});
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

// What a cell with independent units multiplies inputs and state with: a matrix, and one number a unit and gate.
struct IndependentWeights {
  Output kernel, own, bias;
};
// BasicRNNCell, GRUCell and BasicLSTMCell whose units see only their own state (Li et al., 2018).
class WEIR_API IndRNNCell : public Cell {
 public:
  explicit IndRNNCell(int64_t units, const CellOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  Activation activation_;
  IndependentWeights weights_;
};
class WEIR_API IndyGRUCell : public Cell {
 public:
  explicit IndyGRUCell(int64_t units, const GRUOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  GRUOptions options_;
  IndependentWeights gates_, candidate_;
};
class WEIR_API IndyLSTMCell : public Cell {
 public:
  explicit IndyLSTMCell(int64_t units, const BasicLSTMOptions& options = {});
  std::vector<Shape> state_size() const override { return {{units_}, {units_}}; }
  Shape output_size() const override { return {units_}; }

 protected:
  void build(const Shape& inputs) override;
  Step call(const Output& inputs, const State& state) override;

 private:
  int64_t units_;
  BasicLSTMOptions options_;
  IndependentWeights weights_;
};

struct HighwayOptions {
  bool couple_carry_transform_gates = true;  // what is not carried is transformed; false: a gate of its own
  float carry_bias_init = 1;
};
// Lets a learned share of a cell's inputs through beside its outputs (Srivastava et al., 2015).
class WEIR_API HighwayWrapper : public Wrapper {
 public:
  explicit HighwayWrapper(CellPtr cell, const HighwayOptions& options = {})
      : Wrapper("highway_wrapper", std::move(cell)), options_(options) {}

 protected:
  bool has_scope() const override { return false; }
  Step call(const Output& inputs, const State& state) override;

 private:
  struct Gate {
    Variable weights, biases;
  };
  Output gate(Gate& gate, const Output& x, const std::string& which, float bias) const;
  HighwayOptions options_;
  Gate carry_, transform_;
};

struct AttentionCellOptions {
  std::optional<int64_t> attn_size = {};      // of what is seen and given; by default the cell's output
  std::optional<int64_t> attn_vec_size = {};  // of the features that are compared; by default attn_size
  std::optional<int64_t> input_size = {};     // what the cell gets; by default as much as the inputs
};
// A cell that looks back at its own last `length` outputs (Bahdanau et al., 2014). Its state is the cell's, then what
// it looked at last, then those outputs.
class WEIR_API AttentionCellWrapper : public Wrapper {
 public:
  AttentionCellWrapper(CellPtr cell, int64_t length, const AttentionCellOptions& options = {});
  std::vector<Shape> state_size() const override;
  Shape output_size() const override { return {size_}; }
  std::vector<bool> memories() const override;
  State zero_state(Graph& graph, const In& batch_size, DType dtype) const override;

 protected:
  Step call(const Output& inputs, const State& state) override;

 private:
  struct Linear {
    Variable kernel, bias;
  };
  Output linear(Linear& weights, const std::string& scope, const std::vector<Output>& parts, int64_t size);
  Output look(const Output& query, const Output& history);
  int64_t length_, size_, features_;
  std::optional<int64_t> input_size_;
  Linear inputs_, query_, outputs_;
  Variable attn_w_, attn_v_;
};

// The same, made and shared.
inline CellPtr nas(int64_t units, const NASOptions& o = {}) { return std::make_shared<NASCell>(units, o); }
inline CellPtr ugrnn(int64_t units, const UGRNNOptions& o = {}) { return std::make_shared<UGRNNCell>(units, o); }
inline CellPtr ind_rnn(int64_t units, const CellOptions& o = {}) { return std::make_shared<IndRNNCell>(units, o); }
inline CellPtr highway(CellPtr cell, const HighwayOptions& o = {}) {
  return std::make_shared<HighwayWrapper>(std::move(cell), o);
}

// The arithmetic of the cells, for those that keep their weights elsewhere.
struct NASWeights {
  Output recurrent_kernel, kernel, bias = {}, projection = {};  // the last two, or nothing
};
WEIR_API Step nas_step(const Output& inputs, const State& state, const NASWeights& weights);
WEIR_API Step ugrnn_step(const Output& inputs, const Output& state, const Output& kernel, const Output& bias,
                         float forget_bias, const Activation& activation);
WEIR_API Step sru_step(const Output& inputs, const Output& state, const Output& kernel, const Output& bias,
                       const Activation& activation);
WEIR_API Step ind_rnn_step(const Output& inputs, const Output& state, const IndependentWeights& weights,
                           const Activation& activation);
WEIR_API Step indy_gru_step(const Output& inputs, const Output& state, const IndependentWeights& gates,
                            const IndependentWeights& candidate, const Activation& activation);
WEIR_API Step indy_lstm_step(const Output& inputs, const State& state, const IndependentWeights& weights,
                             float forget_bias, const Activation& activation);

}  // namespace weir::rnn
