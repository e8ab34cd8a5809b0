#pragma once

#include "base/errors.h"
#include "weir/ops.h"
#include "weir/rnn_cells.h"

// What the files of cells share.
namespace weir::rnn {

inline Output activated(const Activation& activation, const Output& x) { return activation ? activation(x) : tanh(x); }

// The last size of the inputs; throws InvalidArgument when it is not known.
inline int64_t depth_of(const Shape& inputs) {
  if (!inputs.has_rank() || inputs[-1] == kUnknown) {
    throw invalid_argument("Expected inputs.shape[-1] to be known, saw shape: {}", inputs.str());
  }
  return inputs[-1];
}

}  // namespace weir::rnn
