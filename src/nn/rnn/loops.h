#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "weir/control_flow.h"
#include "weir/graph.h"

// What loops over steps do, for inputs, outputs and states of any number of tensors: flat lists of them. The functions
// of rnn.h and the Python package, whose states are nested, stand on these.
namespace weir::rnn {

struct FlatStep {
  std::vector<Output> outputs, state;
};
using FlatCell = std::function<FlatStep(const std::vector<Output>& inputs, const std::vector<Output>& state)>;

// `after`, but `before` in the rows that are finished. Scalars and lists have no rows and are `after`.
std::vector<Output> frozen(const Output& finished, const std::vector<Output>& before, const std::vector<Output>& after);

// [time, batch, ...] from [batch, time, ...] and back; tensors of lower rank stay as they are.
Output transpose_batch_time(const Output& x);

// How many sequences there are in inputs [time, batch, ...]: a number where one of them tells. Throws InvalidArgument
// for a tensor of lower rank.
In batch_size_of(const std::vector<Output>& inputs);

// The lengths as int32, checked when they are run. Throws InvalidArgument when they are no vector.
Output checked_lengths(const Output& lengths, const In& batch_size);

struct FlatLoop {
  FlatCell cell;
  std::vector<Output> inputs;       // [time, batch, ...]
  std::vector<Output> state;        // the first
  std::vector<Shape> output_sizes;  // without the batch
  DType dtype = DType::Float32;     // of the outputs
  In batch_size = 0;
  Output lengths = {};  // checked; empty: all steps of all sequences
  WhileOptions options = {};
};
// Outputs [time, batch, ...] and the last state. Throws InvalidArgument for inputs of different lengths or unknown
// depth.
FlatStep dynamic_loop(const FlatLoop& loop);

// One step of a sequence along a list: behind the end of a sequence zeros and the state before.
FlatStep bounded_step(const FlatCell& cell, const std::vector<Output>& inputs, const std::vector<Output>& state,
                      int time, const Output& lengths, const std::vector<Output>& zero_outputs);

}  // namespace weir::rnn
