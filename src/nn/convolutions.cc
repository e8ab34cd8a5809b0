#include "weir/convolutions.h"
#include "nn/convert.h"
#include "nn/space_to_batch.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

namespace weir::nn {
Output conv2d_transpose(const In& value, const In& filter, const In& output_shape, const Conv2dOptions& options,
                        std::string_view name) {
  Graph& g = graph_of(value, filter);
  LineScope line(g, source_line(value.where()));
  Scope scope = g.name_scope(name.empty() ? "conv2d_transpose" : name);
  return conv2d_backprop_input(output_shape, filter, value, options, scope.name());
}

namespace {

// The convolution by channel, "name", of every rate-th pixel.
Output depthwise(const Output& image, const Output& taps, const DepthwiseConv2dOptions& options,
                 const std::string& name) {
  Graph& g = image.graph();
  if (options.rate.size() != 2) throw invalid_argument("rate must have 2 entries; it has {}", options.rate.size());
  shape(taps);
  auto convolve = [&](const Output& x, const std::string& padding) {
    return NodeBuilder("DepthwiseConv2dNative", name)
        .input(x)
        .input(taps)
        .attr("strides", options.strides)
        .attr("padding", padding)
        .attr("data_format", options.data_format)
        .output();
  };
  return with_space_to_batch(image,
                             {.rates = options.rate,
                              .rate_node = dilation_rate_constant(g, options.rate),
                              .padding = options.padding,
                              .filter = taps.shape(),
                              .channels_first = options.data_format.starts_with("NC")},
                             convolve);
}

}  // namespace

Output depthwise_conv2d(const In& input, const In& filter, const DepthwiseConv2dOptions& options,
                        std::string_view name) {
  Graph& g = graph_of(input, filter);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? "depthwise" : name);
  Output image = as_output(g, input, float32, "tensor_in"), taps = as_output(g, filter, image.dtype(), "filter_in");
  return depthwise(image, taps, options, scope.name());
}

Output separable_conv2d(const In& input, const In& depthwise_filter, const In& pointwise_filter,
                        const DepthwiseConv2dOptions& options, std::string_view name) {
  Graph& g = graph_of(input, depthwise_filter, pointwise_filter);
  LineScope line(g, source_line(input.where()));
  Scope scope = g.name_scope(name.empty() ? "separable_conv2d" : name);
  Output image = as_output(g, input, float32, "tensor_in");
  Output taps = as_output(g, depthwise_filter, image.dtype(), "depthwise_filter");
  Output points = as_output(g, pointwise_filter, image.dtype(), "pointwise_filter");
  if (!points.shape().compatible(Shape{1, 1, kUnknown, kUnknown})) {
    throw invalid_argument("the pointwise filter must be 1x1; its shape is {}", points.shape().str());
  }
  Output deep = depthwise(image, taps, options, "depthwise");
  return conv2d(deep, points, {.padding = "VALID", .data_format = options.data_format}, scope.name());
}

Output atrous_conv2d(const In& value, const In& filters, int64_t rate, const std::string& padding,
                     std::string_view name) {
  return convolution(value, filters, {.padding = padding, .dilation_rate = {rate, rate}}, name);
}

}  // namespace weir::nn
