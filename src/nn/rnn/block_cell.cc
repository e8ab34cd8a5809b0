#include "base/errors.h"
#include "weir/ops.h"
#include "weir/rnn_cells.h"
#include "weir/sequence_ops.h"

// An LSTM as one operation a step.
namespace weir::rnn {

LSTMBlockCell::LSTMBlockCell(int64_t units, const LSTMBlockOptions& options)
    : Cell("lstm_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 2});
}

void LSTMBlockCell::build(const Shape& inputs) {
  if (!inputs.has_rank() || inputs[-1] == kUnknown) {
    throw invalid_argument("Expecting inputs_shape[1] to be set: {}", inputs.str());
  }
  kernel_ = add_weight("kernel", {inputs[-1] + units_, 4 * units_});
  bias_ = add_weight("bias", {4 * units_}, {.initializer = constant_initializer(0)});
  if (!options_.use_peephole) return;
  w_i_ = add_weight("w_i_diag", {units_});
  w_f_ = add_weight("w_f_diag", {units_});
  w_o_ = add_weight("w_o_diag", {units_});
}

Step LSTMBlockCell::call(const Output& inputs, const State& state) {
  const bool peephole = options_.use_peephole;
  const Output none = peephole ? Output() : zeros(graph(), Shape{units_}, inputs.dtype());
  auto weight = [&](const Variable& variable) { return peephole ? variable.value() : none; };
  const auto outputs = nn::lstm_block_cell(
      inputs, state[0], state[1], {kernel_, weight(w_i_), weight(w_f_), weight(w_o_), bias_},
      {.forget_bias = options_.forget_bias, .cell_clip = options_.cell_clip.value_or(-1.f), .use_peephole = peephole});
  return {outputs.h, {outputs.cs, outputs.h}};
}

}  // namespace weir::rnn
