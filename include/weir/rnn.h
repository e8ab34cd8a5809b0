#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/layers.h"

// Recurrent networks: what cells are, and what runs them along sequences. The cells themselves are in rnn_cells.h.
//
//   auto cell = rnn::multi({rnn::lstm(128), rnn::lstm(128)});
//   auto [outputs, state] = rnn::dynamic_rnn(cell, inputs, {.sequence_length = lengths});
namespace weir::rnn {

// The tensors of a state, in order: h of a GRU, c and h of an LSTM, those of all layers one after the other.
using State = std::vector<Output>;
struct Step {
  Output output;
  State state;
};

// Gives a step its weights by name, made where it asks for them first: seeds depend on the order.
using WeightSource =
    std::function<Output(const std::string& name, const Shape& shape, const layers::WeightOptions& options)>;

// One step of a recurrent network. A cell of one's own says what its sizes are, makes its variables in build() with
// add_weight() and computes in call(). It opens its scope where it is called first.
class WEIR_API Cell : public layers::Layer {
 public:
  using layers::Layer::Layer;
  // Throws InvalidArgument when the state has another number of tensors.
  Step operator()(const Output& inputs, const State& state, In::Where where = In::Where::current());

  virtual std::vector<Shape> state_size() const = 0;  // of every tensor of the state, without the batch
  virtual Shape output_size() const = 0;
  // Which tensors of the state are the memory of an LSTM, which dropout leaves alone: by default the first of two.
  virtual std::vector<bool> memories() const;
  // Zeros for a batch of so many sequences: a number or a scalar tensor.
  virtual State zero_state(Graph& graph, const In& batch_size, DType dtype = float32) const;

 protected:
  virtual Step call(const Output& inputs, const State& state) = 0;
  // Cells that only stand around others may do without a scope: their variables' names do not show them.
  virtual bool has_scope() const { return true; }
  // The weights of the cell's scope, for a step that makes them as it goes and not in build().
  WeightSource own_weights();

 private:
  Output call(const Output& inputs) final;
  std::map<std::string, Variable> asked_;
};
using CellPtr = std::shared_ptr<Cell>;

// Zeros [batch_size, size...].
WEIR_API Output zeros_for_batch(Graph& graph, const In& batch_size, const Shape& size, DType dtype = float32);

struct RnnOptions {
  std::optional<In> sequence_length = {};  // behind its end a sequence's outputs are zeros and its state stays
  State initial_state = {};                // by default zeros
  DType dtype = float32;                   // of outputs and of zeros
  std::string_view scope = "rnn";
};
struct DynamicRnnOptions {
  std::optional<In> sequence_length = {};
  State initial_state = {};
  DType dtype = float32;
  bool time_major = false;  // inputs and outputs [time, batch, ...] and not [batch, time, ...]
  std::string_view scope = "rnn";
};
struct Unrolled {
  std::vector<Output> outputs;
  State state;
};
struct Sequence {
  Output outputs;
  State state;
};
// Runs a cell along `inputs`; the number of steps is that of the run.
WEIR_API Sequence dynamic_rnn(const CellPtr& cell, const Output& inputs, const DynamicRnnOptions& options = {},
                              In::Where where = In::Where::current());
// Runs a cell along a list of inputs [batch, ...], one part of the graph a step.
WEIR_API Unrolled static_rnn(const CellPtr& cell, const std::vector<Output>& inputs, const RnnOptions& options = {},
                             In::Where where = In::Where::current());

// Where the states of sequences that are cut wait for the next part.
class WEIR_API StateSaver {
 public:
  virtual ~StateSaver() = default;
  virtual Output state(const std::string& name) = 0;
  virtual Operation save_state(const std::string& name, const Output& value) = 0;
};
// static_rnn that begins with the saved state and saves its last: a name for each tensor of the cell's state. The last
// output and the state wait until all is saved. Throws InvalidArgument for another number of names.
WEIR_API Unrolled static_state_saving_rnn(const CellPtr& cell, const std::vector<Output>& inputs, StateSaver& saver,
                                          const std::vector<std::string>& state_names, const RnnOptions& options = {},
                                          In::Where where = In::Where::current());

// One cell forwards and another backwards; the initial state holds both, the forward one first.
struct BothWays {
  Output forward, backward;
  State forward_state, backward_state;
};
WEIR_API BothWays bidirectional_dynamic_rnn(const CellPtr& forward, const CellPtr& backward, const Output& inputs,
                                            const DynamicRnnOptions& options = {.scope = "bidirectional_rnn"},
                                            In::Where where = In::Where::current());
// Both outputs of each step side by side.
struct UnrolledBothWays {
  std::vector<Output> outputs;
  State forward_state, backward_state;
};
WEIR_API UnrolledBothWays static_bidirectional_rnn(const CellPtr& forward, const CellPtr& backward,
                                                   const std::vector<Output>& inputs,
                                                   const RnnOptions& options = {.scope = "bidirectional_rnn"},
                                                   In::Where where = In::Where::current());
// Layers that run both ways, each on the joined outputs of the one below. Outputs of the last, states of all.
struct StackedBothWays {
  Output outputs;
  std::vector<State> forward_states, backward_states;
};
WEIR_API StackedBothWays stack_bidirectional_dynamic_rnn(
    const std::vector<CellPtr>& forward, const std::vector<CellPtr>& backward, const Output& inputs,
    const DynamicRnnOptions& options = {.scope = "stack_bidirectional_rnn"}, In::Where where = In::Where::current());

// A loop whose inputs, states and end a function decides. At time 0 `output` is empty, and so is the state.
struct RawStep {
  Output finished;  // bool [batch]
  Output input;
  State state;
  Output emit = {};  // by default the cell's output; at time 0 ignored
};
using RawLoop = std::function<RawStep(const Output& time, const Output& output, const State& state)>;
// What was emitted, [time, batch, ...], and the last state. Finished rows emit zeros and keep their state.
WEIR_API Sequence raw_rnn(Graph& graph, const CellPtr& cell, const RawLoop& loop, std::string_view scope = "rnn");

}  // namespace weir::rnn
