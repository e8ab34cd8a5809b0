#include "base/errors.h"
#include "weir/contrib_cells.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/sequence_ops.h"

// An LSTM that is one operation for a whole sequence.
namespace weir::rnn {
namespace {

// Sizes [time, batch] of a sequence: numbers where they are known.
In size_of(const Output& x, int axis) {
  if (x.shape().has_rank() && x.shape()[axis] != kUnknown) return In(x.shape()[axis]);
  return subscript(shape(x), {axis});
}

// Of each sequence the state [batch, units] at its own end; an empty one ends where it begins.
Output at_ends(const Output& first, const Output& all, const Output& ends) {
  return gather_nd(concat({expand_dims(first, 0), all}, 0), ends);
}

}  // namespace

LSTMBlockFusedCell::LSTMBlockFusedCell(int64_t units, const LSTMBlockOptions& options)
    : Layer("lstm_fused_cell", {.name = options.name, .reuse = options.reuse}), units_(units), options_(options) {
  set_input_spec({.ndim = 3});
}

void LSTMBlockFusedCell::build(const Shape& inputs) {
  if (!inputs.has_rank() || inputs[-1] == kUnknown) throw invalid_argument("Expecting inputs_shape[-1] to be set");
  kernel_ = add_weight("kernel", {inputs[-1] + units_, 4 * units_});
  bias_ = add_weight("bias", {4 * units_}, {.initializer = constant_initializer(0)});
  if (!options_.use_peephole) return;
  w_i_ = add_weight("w_i_diag", {units_});
  w_f_ = add_weight("w_f_diag", {units_});
  w_o_ = add_weight("w_o_diag", {units_});
}

Output LSTMBlockFusedCell::call(const Output& inputs) { return run(inputs, {}).outputs; }

Sequence LSTMBlockFusedCell::operator()(const Output& inputs, const FusedOptions& options, In::Where where) {
  if (!options.initial_state.empty() && options.initial_state.size() != 2) {
    throw invalid_argument("Expecting initial_state to be a tuple with length 2 or None");
  }
  return within(std::span(&inputs, 1), where, [&] { return run(inputs, options); });
}

Sequence LSTMBlockFusedCell::run(const Output& inputs, const FusedOptions& options) {
  const DType dtype = inputs.dtype();
  State first = options.initial_state;
  if (first.empty()) {
    const Output zero = zeros_for_batch(graph(), size_of(inputs, 1), {units_}, dtype);
    first = {zero, zero};
  }
  const bool peephole = options_.use_peephole;
  const Output none = peephole ? Output() : zeros(graph(), Shape{units_}, dtype);
  auto weight = [&](const Variable& variable) { return peephole ? variable.value() : none; };
  const Output steps = subscript(shape(inputs), {0});
  const std::optional<In>& lengths = options.sequence_length;
  const Output longest = lengths ? reduce_max(*lengths) : steps;
  const auto all = nn::block_lstm(
      cast(longest, int64), inputs, first[0], first[1], {kernel_, weight(w_i_), weight(w_f_), weight(w_o_), bias_},
      {.forget_bias = options_.forget_bias, .cell_clip = options_.cell_clip.value_or(-1.f), .use_peephole = peephole});
  if (!lengths) return {all.h, {subscript(all.cs, {-1}), subscript(all.h, {-1})}};
  const Output mask = transpose(sequence_mask(*lengths, steps, dtype), {1, 0});
  const Output outputs = all.h * expand_dims(mask, -1);
  const Output ends = stack({*lengths, range(0, subscript(shape(inputs), {1}), 1)}, 1);
  return {outputs, {at_ends(first[0], all.cs, ends), at_ends(first[1], outputs, ends)}};
}

}  // namespace weir::rnn
