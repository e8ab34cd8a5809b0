#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weir/layer_functions.h"

// What layers compute, given their variables: the nodes of a call, for the layers of C++ and for those of Python, which
// hold their variables themselves. All are made in the current name scope.
namespace weir::layers {

Output dense_outputs(const Output& inputs, const Output& kernel, const std::optional<Output>& bias);

struct ConvCall {
  std::vector<int64_t> strides, dilation_rate;
  std::string padding, data_format;  // a layer's: "same", "channels_last"
  std::vector<int64_t> output_padding = {};
};
// `rate` is dilation_rate_constant().
Output conv_outputs(const Output& inputs, const Output& kernel, const std::optional<Output>& bias, const Output& rate,
                    const ConvCall& call);
Output conv_transpose_outputs(const Output& inputs, const Output& kernel, const std::optional<Output>& bias,
                              const ConvCall& call);
Output separable_conv_outputs(const Output& inputs, const Output& depthwise_kernel, const Output& pointwise_kernel,
                              const std::optional<Output>& bias, const ConvCall& call);

struct PoolCall {
  bool max;
  std::vector<int64_t> pool_size, strides;
  std::string padding, data_format;
};
Output pool_outputs(const Output& inputs, const PoolCall& call);

Output dropout_outputs(const Output& inputs, float rate, const std::optional<In>& noise_shape,
                       const std::optional<int64_t>& seed, const In& training);
Output flatten_outputs(const Output& inputs, const std::string& data_format);

struct BatchNormCall {
  std::vector<int> axes = {};                   // not negative
  std::optional<Output> gamma = {}, beta = {};  // of a fused call both are there
  Variable moving_mean, moving_variance;
  Variable moving_stddev = {}, renorm_mean = {}, renorm_stddev = {};  // of renormalization
  std::optional<Output> adjustment_scale = {}, adjustment_bias = {};
  In training = false;
  double momentum = 0.99, epsilon = 1e-3, renorm_momentum = 0.99;
  bool fused = false, renorm = false;
  RenormClipping clipping = {};
  int64_t virtual_batch_size = 0;
};
struct BatchNormResult {
  Output outputs;
  std::vector<Operation> updates;
};
BatchNormResult batch_norm_outputs(const Output& inputs, const BatchNormCall& call);

}  // namespace weir::layers
