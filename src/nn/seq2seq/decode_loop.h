#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "weir/graph.h"

// The loop of dynamic_decode, for outputs, states and inputs of any number of tensors: flat lists of them.
namespace weir::seq2seq {

struct FlatDecoderStep {
  std::vector<Output> outputs, state, inputs;
  Output finished;
};
struct FlatDecoder {
  std::function<FlatDecoderStep(const Output& time, const std::vector<Output>& inputs,
                                const std::vector<Output>& state)>
      step;
  Output finished;                    // at the beginning, bool [batch] or [batch, beam]
  std::vector<Output> inputs, state;  // of the first step
  std::vector<Output> zero_outputs;   // what rows that ended give; looked at when they do
  std::vector<DType> output_types;
  std::vector<Shape> element_shapes;  // of the outputs of a step, as far as they are known
  bool tracks_own_finished = false, impute_finished = false;
  std::optional<In> maximum_iterations = {};
  int64_t parallel_iterations = 32;
};
struct FlatDecoded {
  std::vector<Output> outputs, state;  // outputs [time, batch, ...]
  Output lengths;
};
// Throws InvalidArgument when a step gives another number of tensors.
FlatDecoded decode_loop(const FlatDecoder& decoder);

}  // namespace weir::seq2seq
