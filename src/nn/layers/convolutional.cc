#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "nn/layers/forward.h"
#include "weir/convolutions.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::layers {
namespace {

std::string upper(const std::string& padding) {
  if (padding == "same" || padding == "SAME") return "SAME";
  if (padding == "valid" || padding == "VALID" || padding == "causal") return "VALID";
  throw invalid_argument("The `padding` argument must be one of \"valid\", \"same\"; it is \"{}\"", padding);
}

bool channels_first(const std::string& data_format) {
  if (data_format == "channels_first") return true;
  if (data_format == "channels_last") return false;
  throw invalid_argument(
      "The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: {}", data_format);
}

const char* format_of(size_t rank, bool first) {
  constexpr const char* kFormats[][2] = {{"NWC", "NCW"}, {"NHWC", "NCHW"}, {"NDHWC", "NCDHW"}};
  return kFormats[rank - 1][first];
}

// For each dimension of a node, of those of the spatial ones.
std::vector<int64_t> around(const std::vector<int64_t>& spatial, bool first) {
  std::vector<int64_t> all = first ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{1};
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (!first) all.push_back(1);
  return all;
}

int64_t channels_of(const Shape& shape, bool first) {
  const int64_t channels = shape[first ? 1 : -1];
  if (channels == kUnknown) {
    throw invalid_argument("The channel dimension of the inputs should be defined. Found `None`.");
  }
  return channels;
}

Shape with(const std::vector<int64_t>& sizes, int64_t a, int64_t b) {
  Shape shape(sizes);
  shape.append(a);
  shape.append(b);
  return shape;
}

// What a transposed convolution gives, of the input's size: a number or a tensor.
template <class T>
T deconv_output_length(T input, int64_t filter, const ConvCall& call, size_t dim) {
  const int64_t stride = call.strides[dim], dilation = call.dilation_rate.empty() ? 1 : call.dilation_rate[dim];
  filter += (filter - 1) * (dilation - 1);
  const bool same = upper(call.padding) == "SAME";
  if (call.output_padding.empty()) {
    if (same) return input * stride;
    return input * stride + std::max<int64_t>(filter - stride, 0);
  }
  const int64_t pad = same ? filter / 2 : 0;
  return (input - 1) * stride + filter - 2 * pad + call.output_padding[dim];
}

std::optional<Output> optional(const Variable& variable) {
  return variable ? std::optional<Output>(variable) : std::nullopt;
}

}  // namespace

std::vector<int64_t> Sizes::of(size_t dims, const char* what) const {
  if (sizes_.size() == 1) return std::vector<int64_t>(dims, sizes_[0]);
  if (sizes_.size() != dims) {
    throw invalid_argument("The `{}` argument must be a tuple of {} integers; it has {}", what, dims, sizes_.size());
  }
  return sizes_;
}

Output conv_outputs(const Output& given, const Output& kernel, const std::optional<Output>& bias, const Output& rate,
                    const ConvCall& call) {
  const bool first = channels_first(call.data_format);
  const size_t rank = call.strides.size();
  Output inputs = given;
  if (call.padding == "causal") {  // outputs read nothing that comes after them
    const auto left = static_cast<int32_t>(call.dilation_rate[0] * (kernel.shape()[0] - 1));
    const std::vector<int32_t> pads =
        first ? std::vector<int32_t>{0, 0, 0, 0, left, 0} : std::vector<int32_t>{0, 0, left, 0, 0, 0};
    inputs = pad(inputs, Tensor::from<int32_t>(pads, {3, 2}));
  }
  Output outputs = nn::convolution_with_rate(inputs, kernel, rate,
                                             {.padding = upper(call.padding),
                                              .strides = call.strides,
                                              .dilation_rate = call.dilation_rate,
                                              .data_format = format_of(rank, first)});
  if (!bias) return outputs;
  if (first && rank == 1) return outputs + reshape(*bias, Shape{1, kernel.shape()[-1], 1});
  return nn::bias_add(outputs, *bias, {.data_format = first ? "NCHW" : "NHWC"});
}

Output conv_transpose_outputs(const Output& inputs, const Output& kernel, const std::optional<Output>& bias,
                              const ConvCall& call) {
  const bool first = channels_first(call.data_format);
  const size_t rank = call.strides.size();
  const int64_t filters = kernel.shape()[-2];
  Output sizes = shape(inputs);
  Output batch = subscript(sizes, {0});
  std::vector<Output> spatial;
  for (size_t d = 0; d < rank; ++d) spatial.push_back(subscript(sizes, {static_cast<int>(d) + (first ? 2 : 1)}));
  Shape known = inputs.shape();
  known.set_dim(first ? 1 : -1, filters);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t filter = kernel.shape()[static_cast<int>(d)];
    spatial[d] = deconv_output_length<Output>(spatial[d], filter, call, d);
    const int axis = static_cast<int>(d) + (first ? 2 : 1);
    if (known[axis] != kUnknown) known.set_dim(axis, deconv_output_length<int64_t>(known[axis], filter, call, d));
  }
  std::vector<In> parts = {batch};
  if (first) parts.emplace_back(filters);
  parts.insert(parts.end(), spatial.begin(), spatial.end());
  if (!first) parts.emplace_back(filters);
  Output output_shape = stack(InList(parts));
  const std::string format = format_of(rank, first);
  Output outputs;
  if (rank == 3) {
    outputs = nn::conv3d_transpose(
        inputs, kernel, output_shape,
        {.strides = around(call.strides, first), .padding = upper(call.padding), .data_format = format});
  } else {
    subscript(output_shape, {0});  // TensorFlow looks whether the batch is known, and leaves a node
    const std::vector<int64_t> rates = call.dilation_rate.empty() ? std::vector<int64_t>{1, 1} : call.dilation_rate;
    outputs = nn::conv2d_transpose(inputs, kernel, output_shape,
                                   {.strides = around(call.strides, first),
                                    .padding = upper(call.padding),
                                    .data_format = format,
                                    .dilations = around(rates, first)});
  }
  outputs.set_shape(known);
  return bias ? nn::bias_add(outputs, *bias, {.data_format = first ? "NCHW" : "NHWC"}) : outputs;
}

Output separable_conv_outputs(const Output& given, const Output& depthwise_kernel, const Output& pointwise_kernel,
                              const std::optional<Output>& bias, const ConvCall& call) {
  const bool first = channels_first(call.data_format), signal = call.strides.size() == 1;
  Output inputs = given, taps = depthwise_kernel, points = pointwise_kernel;
  std::vector<int64_t> strides = call.strides, rates = call.dilation_rate;
  const int64_t axis = first ? 2 : 1;
  if (signal) {  // images of height one
    if (call.padding == "causal") {
      const auto left = static_cast<int32_t>(rates[0] * (taps.shape()[0] - 1));
      const std::vector<int32_t> pads =
          first ? std::vector<int32_t>{0, 0, 0, 0, left, 0} : std::vector<int32_t>{0, 0, left, 0, 0, 0};
      inputs = pad(inputs, Tensor::from<int32_t>(pads, {3, 2}));
    }
    inputs = expand_dims(inputs, axis);
    taps = expand_dims(taps, 0);
    points = expand_dims(points, 0);
    strides = {strides[0], strides[0]};
    rates = {1, rates[0]};
  }
  Output outputs = nn::separable_conv2d(inputs, taps, points,
                                        {.strides = around(strides, first),
                                         .padding = upper(call.padding),
                                         .rate = rates,
                                         .data_format = first ? "NCHW" : "NHWC"});
  if (bias) outputs = nn::bias_add(outputs, *bias, {.data_format = first ? "NCHW" : "NHWC"});
  return signal ? squeeze(outputs, {axis}) : outputs;
}

Output pool_outputs(const Output& given, const PoolCall& call) {
  const bool first = channels_first(call.data_format);
  const size_t rank = call.pool_size.size();
  std::vector<int64_t> ksize = call.pool_size, strides = call.strides;
  Output inputs = given;
  if (rank == 3) {
    // As TensorFlow, whose operations take volumes with the channels last only.
    if (first) inputs = transpose(inputs, Tensor(std::vector<int32_t>{0, 2, 3, 4, 1}));
    const nn::Pool3dOptions options{
        .ksize = around(ksize, false), .strides = around(strides, false), .padding = upper(call.padding)};
    Output outputs = call.max ? nn::max_pool3d(inputs, options) : nn::avg_pool3d(inputs, options);
    return first ? transpose(outputs, Tensor(std::vector<int32_t>{0, 4, 1, 2, 3})) : outputs;
  }
  const int64_t axis = first ? 3 : 2;
  if (rank == 1) {
    inputs = expand_dims(inputs, axis);
    ksize.push_back(1);
    strides.push_back(1);
  }
  const nn::PoolOptions options{.ksize = around(ksize, first),
                                .strides = around(strides, first),
                                .padding = upper(call.padding),
                                .data_format = first ? "NCHW" : "NHWC"};
  Output outputs = call.max ? nn::max_pool(inputs, options) : nn::avg_pool(inputs, options);
  return rank == 1 ? squeeze(outputs, {axis}) : outputs;
}

Conv::Conv(int rank, int64_t filters, const Sizes& kernel_size, const ConvOptions& options, std::string scope)
    : Layer(fmt::format("conv{}d", rank), {options.trainable, options.name, {}, options.reuse, std::move(scope)}),
      rank_(rank),
      filters_(filters),
      kernel_size_(kernel_size.of(static_cast<size_t>(rank), "kernel_size")),
      options_(options) {
  set_input_spec({.ndim = rank + 2});
}

void Conv::build(const Shape& input_shape) {
  const bool first = channels_first(options_.data_format);
  const int64_t channels = channels_of(input_shape, first);
  kernel_ = add_weight("kernel", with(kernel_size_, channels, filters_),
                       {options_.kernel_initializer, options_.kernel_regularizer, options_.kernel_constraint});
  if (options_.use_bias) {
    bias_ = add_weight("bias", {filters_},
                       {options_.bias_initializer, options_.bias_regularizer, options_.bias_constraint});
  }
  set_input_spec({.ndim = rank_ + 2, .axes = {{first ? 1 : -1, channels}}});
  rate_ = nn::dilation_rate_constant(graph(), options_.dilation_rate.of(static_cast<size_t>(rank_), "dilation_rate"));
}

Output Conv::call(const Output& inputs) {
  const auto rank = static_cast<size_t>(rank_);
  return options_.activation(conv_outputs(inputs, kernel_, optional(bias_), rate_,
                                          {.strides = options_.strides.of(rank, "strides"),
                                           .dilation_rate = options_.dilation_rate.of(rank, "dilation_rate"),
                                           .padding = options_.padding,
                                           .data_format = options_.data_format}));
}

ConvTranspose::ConvTranspose(int rank, int64_t filters, const Sizes& kernel_size, const ConvOptions& options,
                             std::string scope)
    : Layer(fmt::format("conv{}d_transpose", rank),
            {options.trainable, options.name, {}, options.reuse, std::move(scope)}),
      rank_(rank),
      filters_(filters),
      kernel_size_(kernel_size.of(static_cast<size_t>(rank), "kernel_size")),
      options_(options) {
  set_input_spec({.ndim = rank + 2});
}

void ConvTranspose::build(const Shape& input_shape) {
  const bool first = channels_first(options_.data_format);
  const int64_t channels = channels_of(input_shape, first);
  set_input_spec({.ndim = rank_ + 2, .axes = {{first ? 1 : -1, channels}}});
  kernel_ = add_weight("kernel", with(kernel_size_, filters_, channels),
                       {options_.kernel_initializer, options_.kernel_regularizer, options_.kernel_constraint});
  if (options_.use_bias) {
    bias_ = add_weight("bias", {filters_},
                       {options_.bias_initializer, options_.bias_regularizer, options_.bias_constraint});
  }
}

Output ConvTranspose::call(const Output& inputs) {
  const auto rank = static_cast<size_t>(rank_);
  return options_.activation(conv_transpose_outputs(inputs, kernel_, optional(bias_),
                                                    {.strides = options_.strides.of(rank, "strides"),
                                                     .dilation_rate = options_.dilation_rate.of(rank, "dilation_rate"),
                                                     .padding = options_.padding,
                                                     .data_format = options_.data_format}));
}

SeparableConv::SeparableConv(int rank, int64_t filters, const Sizes& kernel_size, const SeparableConvOptions& options,
                             std::string scope)
    : Layer(fmt::format("separable_conv{}d", rank),
            {options.trainable, options.name, {}, options.reuse, std::move(scope)}),
      rank_(rank),
      filters_(filters),
      kernel_size_(kernel_size.of(static_cast<size_t>(rank), "kernel_size")),
      options_(options) {
  set_input_spec({.ndim = rank + 2});
}

void SeparableConv::build(const Shape& input_shape) {
  const bool first = channels_first(options_.data_format);
  const int64_t channels = channels_of(input_shape, first);
  set_input_spec({.ndim = rank_ + 2, .axes = {{first ? 1 : -1, channels}}});
  depthwise_ = add_weight("depthwise_kernel", with(kernel_size_, channels, options_.depth_multiplier),
                          {options_.depthwise_initializer, options_.depthwise_regularizer});
  pointwise_ = add_weight(
      "pointwise_kernel",
      with(std::vector<int64_t>(static_cast<size_t>(rank_), 1), channels * options_.depth_multiplier, filters_),
      {options_.pointwise_initializer, options_.pointwise_regularizer});
  if (options_.use_bias) bias_ = add_weight("bias", {filters_}, {options_.bias_initializer, options_.bias_regularizer});
}

Output SeparableConv::call(const Output& inputs) {
  const auto rank = static_cast<size_t>(rank_);
  return options_.activation(separable_conv_outputs(inputs, depthwise_, pointwise_, optional(bias_),
                                                    {.strides = options_.strides.of(rank, "strides"),
                                                     .dilation_rate = options_.dilation_rate.of(rank, "dilation_rate"),
                                                     .padding = options_.padding,
                                                     .data_format = options_.data_format}));
}

Output conv1d(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options,
              In::Where where) {
  return Conv(1, filters, kernel_size, options, options.name)(inputs, where);
}
Output conv2d(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options,
              In::Where where) {
  return Conv(2, filters, kernel_size, options, options.name)(inputs, where);
}
Output conv3d(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options,
              In::Where where) {
  return Conv(3, filters, kernel_size, options, options.name)(inputs, where);
}
Output conv2d_transpose(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options,
                        In::Where where) {
  return ConvTranspose(2, filters, kernel_size, options, options.name)(inputs, where);
}
Output conv3d_transpose(const Output& inputs, int64_t filters, const Sizes& kernel_size, const ConvOptions& options,
                        In::Where where) {
  return ConvTranspose(3, filters, kernel_size, options, options.name)(inputs, where);
}
Output separable_conv1d(const Output& inputs, int64_t filters, const Sizes& kernel_size,
                        const SeparableConvOptions& options, In::Where where) {
  return SeparableConv(1, filters, kernel_size, options, options.name)(inputs, where);
}
Output separable_conv2d(const Output& inputs, int64_t filters, const Sizes& kernel_size,
                        const SeparableConvOptions& options, In::Where where) {
  return SeparableConv(2, filters, kernel_size, options, options.name)(inputs, where);
}

}  // namespace weir::layers
