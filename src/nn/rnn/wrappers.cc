#include <cmath>

#include "base/errors.h"
#include "weir/embedding.h"
#include "weir/ops.h"
#include "weir/rnn_cells.h"

namespace weir::rnn {
namespace {

std::string cell_scope(size_t i) { return "cell_" + std::to_string(i); }

int64_t matrix_depth(const Output& x) {
  if (x.shape().rank() != 2 || x.shape()[1] == kUnknown) {
    throw invalid_argument("linear is expecting 2D arguments of known depth: {}", x.shape().str());
  }
  return x.shape()[1];
}

}  // namespace

MultiRNNCell::MultiRNNCell(std::vector<CellPtr> cells) : Cell("multi_rnn_cell"), cells_(std::move(cells)) {
  if (cells_.empty()) throw invalid_argument("Must specify at least one cell for MultiRNNCell.");
}

std::vector<Shape> MultiRNNCell::state_size() const {
  std::vector<Shape> sizes;
  for (const CellPtr& cell : cells_) {
    for (const Shape& size : cell->state_size()) sizes.push_back(size);
  }
  return sizes;
}

std::vector<bool> MultiRNNCell::memories() const {
  std::vector<bool> flags;
  for (const CellPtr& cell : cells_) {
    const std::vector<bool> own = cell->memories();
    flags.insert(flags.end(), own.begin(), own.end());
  }
  return flags;
}

State MultiRNNCell::zero_state(Graph& graph, const In& batch_size, DType dtype) const {
  State state;
  for (const CellPtr& cell : cells_) {
    for (const Output& part : cell->zero_state(graph, batch_size, dtype)) state.push_back(part);
  }
  return state;
}

Step MultiRNNCell::call(const Output& inputs, const State& state) {
  Step result{inputs, {}};
  auto next = state.begin();
  for (size_t i = 0; i < cells_.size(); ++i) {
    const auto count = static_cast<ptrdiff_t>(cells_[i]->state_size().size());
    const State own(next, next + count);
    next += count;
    auto scope = graph().variable_scope(cell_scope(i));
    Step step = (*cells_[i])(result.output, own);
    result.output = step.output;
    result.state.insert(result.state.end(), step.state.begin(), step.state.end());
  }
  return result;
}

Wrapper::Wrapper(std::string kind, CellPtr cell) : Cell(std::move(kind)), cell_(std::move(cell)) {
  if (!cell_) throw invalid_argument("a wrapper needs a cell");
}

State Wrapper::zero_state(Graph& graph, const In& batch_size, DType dtype) const {
  return cell_->zero_state(graph, batch_size, dtype);
}

Step ResidualWrapper::call(const Output& inputs, const State& state) {
  Step step = (*cell_)(inputs, state);
  if (!inputs.shape().compatible(step.output.shape())) {
    throw invalid_argument("Shapes {} and {} are incompatible", inputs.shape().str(), step.output.shape().str());
  }
  step.output = inputs + step.output;
  return step;
}

Step DeviceWrapper::call(const Output& inputs, const State& state) {
  auto scope = inputs.graph().device(device_);
  return (*cell_)(inputs, state);
}

EmbeddingWrapper::EmbeddingWrapper(CellPtr cell, int64_t classes, int64_t size, const Initializer& initializer)
    : Wrapper("embedding_wrapper", std::move(cell)), classes_(classes), size_(size), initializer_(initializer) {
  if (classes <= 0 || size <= 0) {
    throw invalid_argument("Both embedding_classes and embedding_size must be > 0: {}, {}.", classes, size);
  }
}

void EmbeddingWrapper::build(const Shape&) {
  const float bound = std::sqrt(3.f);  // a variance of 1
  embedding_ = add_weight(
      "embedding", {classes_, size_},
      {.initializer = initializer_ ? initializer_ : random_uniform_initializer(-bound, bound), .dtype = float32});
}

Step EmbeddingWrapper::call(const Output& inputs, const State& state) {
  return (*cell_)(nn::embedding_lookup({embedding_}, reshape(inputs, {-1})), state);
}

OutputProjectionWrapper::OutputProjectionWrapper(CellPtr cell, int64_t size, Activation activation)
    : Wrapper("output_projection_wrapper", std::move(cell)), size_(size), activation_(std::move(activation)) {
  if (size < 1) throw invalid_argument("Parameter output_size must be > 0: {}.", size);
}

Step OutputProjectionWrapper::call(const Output& inputs, const State& state) {
  Step step = (*cell_)(inputs, state);
  if (!kernel_) {
    kernel_ = add_weight("kernel", {matrix_depth(step.output), size_});
    bias_ = add_weight("bias", {size_}, {.initializer = zeros_initializer()});
  }
  step.output = nn::bias_add(matmul(step.output, kernel_), bias_);
  if (activation_) step.output = activation_(step.output);
  return step;
}

InputProjectionWrapper::InputProjectionWrapper(CellPtr cell, int64_t size, Activation activation)
    : Wrapper("input_projection_wrapper", std::move(cell)), size_(size), activation_(std::move(activation)) {}

void InputProjectionWrapper::build(const Shape& inputs) {
  kernel_ = add_weight("kernel", {inputs[-1], size_});
  bias_ = add_weight("bias", {size_}, {.initializer = zeros_initializer()});
}

Step InputProjectionWrapper::call(const Output& inputs, const State& state) {
  Output x = nn::bias_add(matmul(inputs, kernel_), bias_);
  return (*cell_)(activation_ ? activation_(x) : x, state);
}

}  // namespace weir::rnn
