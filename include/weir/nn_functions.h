#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/math_ops.h"
#include "weir/nn.h"

// More of tf.nn: functions that are composed of operations, and batch normalisation and convolutions by channel.
namespace weir::nn {

// x * w + b, and that through relu.
WEIR_API Output xw_plus_b(const In& x, const In& weights, const In& biases, std::string_view name = {});
WEIR_API Output relu_layer(const In& x, const In& weights, const In& biases, std::string_view name = {});

// x / sqrt(max(sum(x^2), epsilon)), the sum over these axes.
WEIR_API Output l2_normalize(const In& x, const Axes& axes, float epsilon = 1e-12f, std::string_view name = {});

// The share of elements that are zero.
WEIR_API Output zero_fraction(const In& value, std::string_view name = {});

// dropout() by the share of elements that are dropped, in [0, 1).
WEIR_API Output dropout_rate(const In& x, const In& rate, const DropoutOptions& options = {},
                             std::string_view name = {});

// (x - mean) / sqrt(variance + epsilon), then times the scale and plus the offset where they are given.
struct BatchNormalizationOptions {
  std::optional<In> offset = {}, scale = {};
  float variance_epsilon = 0.001f;
};
WEIR_API Output batch_normalization(const In& x, const In& mean, const In& variance,
                                    const BatchNormalizationOptions& options, std::string_view name = {});

struct SufficientStatisticsOptions {
  std::optional<In> shift = {};  // near the mean: keeps the sums small
  bool keep_dims = false;
};
struct SufficientStatistics {
  Output count, mean_ss, variance_ss, shift;  // number of elements, sum, sum of squares, shift (empty without one)
};
WEIR_API SufficientStatistics sufficient_statistics(const In& x, const std::vector<int64_t>& axes,
                                                    const SufficientStatisticsOptions& options = {},
                                                    std::string_view name = {});
// Mean and variance from those.
WEIR_API Moments normalize_moments(const In& counts, const In& mean_ss, const In& variance_ss,
                                   const std::optional<In>& shift = {}, std::string_view name = {});
WEIR_API Moments weighted_moments(const In& x, const std::vector<int64_t>& axes, const In& frequency_weights,
                                  const MomentsOptions& options = {}, std::string_view name = {});

// The transpose (gradient) of conv2d: filter [height, width, out, in] and a result of the given shape.
WEIR_API Output conv2d_transpose(const In& value, const In& filter, const In& output_shape,
                                 const Conv2dOptions& options = {}, std::string_view name = {});

// Each channel with its own filters: filter [height, width, channels, multiplier].
struct DepthwiseConv2dOptions {
  std::vector<int64_t> strides = {1, 1, 1, 1};
  std::string padding = "SAME";
  std::vector<int64_t> rate = {1, 1};  // of dilation; with 1 there only strides other than 1 are allowed
  std::string data_format = "NHWC";
};
WEIR_API Output depthwise_conv2d(const In& input, const In& filter, const DepthwiseConv2dOptions& options = {},
                                 std::string_view name = {});
// Then a convolution of 1x1 across the channels: pointwise_filter [1, 1, channels * multiplier, out].
WEIR_API Output separable_conv2d(const In& input, const In& depthwise_filter, const In& pointwise_filter,
                                 const DepthwiseConv2dOptions& options = {}, std::string_view name = {});
// A convolution whose taps are `rate` pixels apart.
WEIR_API Output atrous_conv2d(const In& value, const In& filters, int64_t rate, const std::string& padding,
                              std::string_view name = {});

// exp(log_input) - log_input * targets, and with Stirling's approximation of log(targets!) the full loss.
WEIR_API Output log_poisson_loss(const In& targets, const In& log_input, bool compute_full_loss = false,
                                 std::string_view name = {});
// Sigmoid cross entropy in which positive targets count pos_weight times.
WEIR_API Output weighted_cross_entropy_with_logits(const In& targets, const In& logits, const In& pos_weight,
                                                   std::string_view name = {});

}  // namespace weir::nn
