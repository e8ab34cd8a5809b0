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

// The tensors side by side, times "<scope>kernel", plus "<scope>bias". `scope` ends with a slash, or is empty.
struct LinearOptions {
  std::string scope = {};
  bool bias = true;
  Initializer kernel_initializer = {};
};
Output linear(const WeightSource& weights, const std::vector<Output>& parts, int64_t columns,
              const LinearOptions& options = {});

// A matrix whose rows lie in several variables, "<name>_0" and on. Throws InvalidArgument for more shards than rows.
Output sharded(const WeightSource& weights, const std::string& name, const Shape& shape, int64_t shards,
               const Initializer& initializer = {});

// x with the learned mean "<scope>/beta" and deviation "<scope>/gamma" over its last dimension.
struct Normalization {
  bool on = true;
  float gain = 1, shift = 0;
};
Output normalized(const WeightSource& weights, const Output& x, const std::string& scope, const Normalization& norm);

// A probability to keep, where it is a number, and whether it keeps everything.
std::optional<double> number_of(const In& keep_prob);
bool keeps_all(const In& keep_prob);

// Values within [-limit, limit], if there is one.
Output clipped(const Output& x, const std::optional<float>& limit);

}  // namespace weir::rnn
