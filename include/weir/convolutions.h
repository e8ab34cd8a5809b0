#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/nn.h"

// Convolutions and pools of signals, images and volumes: [batch, ..., channels], or [batch, channels, ...] with a
// data_format that begins with "NC".
namespace weir::nn {

struct ConvolutionOptions {
  std::string padding = "VALID";
  std::vector<int64_t> strides = {};        // one for each spatial dimension; empty: all 1
  std::vector<int64_t> dilation_rate = {};  // likewise; where it is not 1 every stride must be
  std::string data_format = {};             // "NWC", "NHWC" or "NDHWC" unless given
};
// Over one, two or three dimensions, whose number the filter tells: [..., in, out].
WEIR_API Output convolution(const In& input, const In& filter, const ConvolutionOptions& options = {},
                            std::string_view name = {});
// The node that a dilated convolution reads its rates from; a layer makes it once and passes it to each call.
WEIR_API Output dilation_rate_constant(Graph& graph, const std::vector<int64_t>& dilation_rate);
WEIR_API Output convolution_with_rate(const Output& input, const Output& filter, const Output& rate,
                                      const ConvolutionOptions& options, std::string_view name = {});

struct Conv1dOptions {
  int64_t stride = 1;
  std::string padding = "SAME";
  std::string data_format = "NWC";
  int64_t dilation = 1;
};
// [batch, width, in] with [width, in, out].
WEIR_API Output conv1d(const In& value, const In& filters, const Conv1dOptions& options = {},
                       std::string_view name = {});

struct Conv3dOptions {
  std::vector<int64_t> strides = {1, 1, 1, 1, 1};
  std::string padding = "SAME";
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
};
// [batch, depth, height, width, in] with [depth, height, width, in, out].
WEIR_API Output conv3d(const In& input, const In& filter, const Conv3dOptions& options = {},
                       std::string_view name = {});
// The transpose (gradient) of conv3d: filter [depth, height, width, out, in] and a result of the given shape.
WEIR_API Output conv3d_transpose(const In& value, const In& filter, const In& output_shape,
                                 const Conv3dOptions& options = {}, std::string_view name = {});

struct Pool3dOptions {
  std::vector<int64_t> ksize = {1, 2, 2, 2, 1};
  std::vector<int64_t> strides = {1, 2, 2, 2, 1};
  std::string padding = "SAME";
  std::string data_format = "NDHWC";
};
WEIR_API Output max_pool3d(const In& input, const Pool3dOptions& options = {}, std::string_view name = {});
WEIR_API Output avg_pool3d(const In& input, const Pool3dOptions& options = {}, std::string_view name = {});

struct Pool1dOptions {
  int64_t ksize = 2;
  int64_t stride = 2;
  std::string padding = "SAME";
  std::string data_format = "NWC";
};
WEIR_API Output max_pool1d(const In& input, const Pool1dOptions& options = {}, std::string_view name = {});
WEIR_API Output avg_pool1d(const In& input, const Pool1dOptions& options = {}, std::string_view name = {});

}  // namespace weir::nn
