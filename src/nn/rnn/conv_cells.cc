#include <fmt/core.h>

#include "nn/rnn/cell_parts.h"
#include "weir/convolutions.h"

// LSTMs whose inputs and states have places.
namespace weir::rnn {
namespace {

Output convolved(const Output& x, const Output& kernel) {
  switch (x.shape().rank()) {
    case 3:
      return nn::conv1d(x, kernel, {.padding = "SAME"});
    case 4:
      return nn::conv2d(x, kernel, {.padding = "SAME"});
    default:
      return nn::conv3d(x, kernel, {.padding = "SAME"});
  }
}

}  // namespace

Step conv_lstm_step(const Output& inputs, const State& state, int64_t output_channels,
                    const std::vector<int64_t>& kernel_shape, const ConvLSTMOptions& options,
                    const WeightSource& weights) {
  const int rank = inputs.shape().rank();
  if (rank < 3 || rank > 5 || state[1].shape().rank() != rank) {
    throw invalid_argument("Conv Linear expects 3D, 4D or 5D arguments: {} and {}", inputs.shape().str(),
                           state[1].shape().str());
  }
  const Output joined = concat({inputs, state[1]}, -1);
  std::vector<int64_t> sizes = kernel_shape;
  sizes.push_back(depth_of(joined.shape()));
  sizes.push_back(4 * output_channels);
  Output product = convolved(joined, weights("kernel", Shape(sizes), {}));
  if (options.use_bias) {
    product = product + weights("biases", {4 * output_channels}, {.initializer = constant_initializer(0)});
  }
  const std::vector<Output> gates = split(product, 4, rank - 1);
  Output c = sigmoid(gates[2] + options.forget_bias) * state[0];
  const Output in = sigmoid(gates[0]);
  c = c + in * tanh(gates[1]);
  const Output shown = tanh(c);
  Output output = shown * sigmoid(gates[3]);
  if (options.skip_connection) output = concat({output, inputs}, -1);
  return {output, {c, output}};
}

ConvLSTMCell::ConvLSTMCell(const Shape& input_shape, int64_t output_channels, const std::vector<int64_t>& kernel_shape,
                           const ConvLSTMOptions& options)
    : Cell(fmt::format("conv_{}d_lstm_cell", kernel_shape.size()), {.name = options.name}),
      input_shape_(input_shape),
      channels_(output_channels),
      kernel_shape_(kernel_shape),
      options_(options) {
  const size_t places = kernel_shape.size();
  if (places < 1 || places > 3 || input_shape.rank() != static_cast<int>(places) + 1) {
    throw invalid_argument("Invalid input_shape {} for conv_ndims={}.", input_shape.str(), places);
  }
}

Shape ConvLSTMCell::size_of(int64_t channels) const {
  Shape size = input_shape_;
  size.set_dim(size.rank() - 1, channels);
  return size;
}

Shape ConvLSTMCell::output_size() const {
  return size_of(channels_ + (options_.skip_connection ? input_shape_[-1] : 0));
}

Step ConvLSTMCell::call(const Output& inputs, const State& state) {
  return conv_lstm_step(inputs, state, channels_, kernel_shape_, options_, own_weights());
}

}  // namespace weir::rnn
