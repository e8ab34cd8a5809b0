#include "base/errors.h"
#include "weir/contrib_cells.h"
#include "weir/ops.h"

// What stands around cells with weights of its own: highways, and a look back at the last outputs.
namespace weir::rnn {

Output HighwayWrapper::gate(Gate& gate, const Output& x, const std::string& which, float bias) const {
  if (!gate.weights) {
    const int64_t size = x.shape()[-1];
    gate.weights = x.graph().get_variable(which + "_w", {size, size});
    gate.biases = x.graph().get_variable(which + "_b", {size}, {.initializer = constant_initializer(bias)});
  }
  return sigmoid(nn::bias_add(matmul(x, gate.weights), gate.biases));
}

Step HighwayWrapper::call(const Output& inputs, const State& state) {
  Step step = (*cell_)(inputs, state);
  if (!inputs.shape().compatible(step.output.shape())) {
    throw invalid_argument("Shapes {} and {} are incompatible", inputs.shape().str(), step.output.shape().str());
  }
  const Output carry = gate(carry_, inputs, "carry", options_.carry_bias_init);
  const Output transform = options_.couple_carry_transform_gates
                               ? 1 - carry
                               : gate(transform_, inputs, "transform", -options_.carry_bias_init);
  const Output carried = inputs * carry;
  step.output = carried + step.output * transform;
  return step;
}

AttentionCellWrapper::AttentionCellWrapper(CellPtr cell, int64_t length, const AttentionCellOptions& options)
    : Wrapper("attention_cell_wrapper", std::move(cell)),
      length_(length),
      size_(options.attn_size.value_or(cell_->output_size()[0])),
      features_(options.attn_vec_size.value_or(size_)),
      input_size_(options.input_size) {
  if (length <= 0) throw invalid_argument("attn_length should be greater than zero, got {}", length);
}

std::vector<Shape> AttentionCellWrapper::state_size() const {
  std::vector<Shape> sizes = cell_->state_size();
  sizes.push_back({size_});
  sizes.push_back({size_ * length_});
  return sizes;
}

std::vector<bool> AttentionCellWrapper::memories() const {
  std::vector<bool> flags = cell_->memories();
  flags.resize(flags.size() + 2);
  return flags;
}

State AttentionCellWrapper::zero_state(Graph& graph, const In& batch_size, DType dtype) const {
  return Cell::zero_state(graph, batch_size, dtype);
}

Output AttentionCellWrapper::linear(Linear& weights, const std::string& scope, const std::vector<Output>& parts,
                                    int64_t size) {
  const Output joined = parts.size() == 1 ? parts[0] : concat(parts, 1);
  if (!weights.kernel) {
    weights.kernel = add_weight(scope + "kernel", {joined.shape()[-1], size});
    weights.bias = add_weight(scope + "bias", {size}, {.initializer = constant_initializer(0)});
  }
  return nn::bias_add(matmul(joined, weights.kernel), weights.bias);
}

// What is seen of the last outputs [batch, length, size], by how well their features fit those of the query.
Output AttentionCellWrapper::look(const Output& query, const Output& history) {
  if (!attn_w_) {
    attn_w_ = add_weight("attention/attn_w", {1, 1, size_, features_});
    attn_v_ = add_weight("attention/attn_v", {features_});
  }
  const Output hidden = reshape(history, {-1, length_, 1, size_});
  const Output features = nn::conv2d(hidden, attn_w_, {.padding = "SAME"});
  const Output wanted = reshape(linear(query_, "attention/", {query}, features_), {-1, 1, 1, features_});
  const Output scores = reduce_sum(attn_v_ * tanh(features + wanted), {.axes = {2, 3}});
  const Output weights = reshape(nn::softmax(scores), {-1, length_, 1, 1});
  return reshape(reduce_sum(weights * hidden, {.axes = {1, 2}}), {-1, size_});
}

Step AttentionCellWrapper::call(const Output& inputs, const State& state) {
  const State own(state.begin(), state.end() - 2);
  const Output seen = state[state.size() - 2];
  const Output history = reshape(state.back(), {-1, length_, size_});
  Step step = (*cell_)(linear(inputs_, "", {inputs, seen}, input_size_.value_or(inputs.shape()[-1])), own);
  const Output query = step.state.size() == 1 ? step.state[0] : concat(step.state, 1);
  const Output look_now = look(query, history);
  const Output output = linear(outputs_, "attn_output_projection/", {step.output, look_now}, size_);
  const Output newer = concat({slice(history, {0, 1, 0}, {-1, -1, -1}), expand_dims(output, 1)}, 1);
  step.output = output;
  step.state.push_back(look_now);
  step.state.push_back(reshape(newer, {-1, length_ * size_}));
  return step;
}

}  // namespace weir::rnn
